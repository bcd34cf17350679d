package addon

import (
	"cmp"
	"strings"
	"time"

	"example.com/fairlead/temporal/wire"
)

// maxMessage bounds the texts of a status, in bytes: what the object takes as it is can be
// compared with what was sent.
const maxMessage = 1000

// status is the stored one with another phase.
func (s *State) status(c wire.AddonClaim, phase, message string) wire.AddonStatus {
	status := s.Stored
	status.Phase, status.Message = phase, clip(message)
	status.ObservedGeneration, status.ObservedInputs = c.Generation, c.Inputs
	status.Sync = copied(s.Sync)
	if a := s.Work.Applied; a != nil && a.Inventory != "" { // whatever comes after it fails
		status.Sets.Inventory, status.Sets.Render = a.Inventory, s.Work.Preview.Render
	}
	return status
}

// planned is the status with what the preview found.
func (s *State) planned(c wire.AddonClaim, phase, message string) wire.AddonStatus {
	p := s.Work.Preview
	status := s.status(c, phase, message)
	status.Revision, status.Version, status.Digest = p.Revision, p.Version, p.Digest
	status.Health = healthOf(p.Health)
	if s.keepsPlan() {
		return status
	}
	status.PlanHash, status.Counts, status.Sets.Plan = p.PlanHash, p.Counts, p.Plan
	if phase == wire.AddonSyncing {
		status.Sets.Inventory = cmp.Or(p.Inventory, status.Sets.Inventory)
		status.Sets.Render = cmp.Or(status.Sets.Render, p.Render) // an uninstall runs its hooks
	}
	return status
}

// synced is the status of a cluster that is as the source says.
func (s *State) synced(c wire.AddonClaim, health wire.AddonHealth, inventory string) wire.AddonStatus {
	p := s.Work.Preview
	message := "as its source says"
	if p.Warning != "" {
		message += "; " + p.Warning
	}
	status := s.status(c, wire.AddonSynced, message)
	status.Revision, status.Version, status.Digest = p.Revision, p.Version, p.Digest
	status.Health = healthOf(health)
	status.PlanHash, status.Sets.Plan, status.Sync = "", "", nil
	status.Counts = wire.AddonCounts{Unchanged: p.Counts.Unchanged + p.Counts.Create + p.Counts.Update + p.Counts.Replace}
	status.Sets.Render = p.Render
	if inventory != "" {
		status.Sets.Inventory = inventory
	}
	status.Adopted, status.AppliedHash = true, p.Hash
	status.AppliedSyncRequest = max(status.AppliedSyncRequest, c.SyncRequest)
	return status
}

func healthOf(h wire.AddonHealth) wire.AddonHealth {
	h.Message = clip(h.Message)
	return h
}

// clip is a text as a status takes it.
func clip(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text)
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + " … (cut)"
}

// seconds is a time as the API server keeps it.
func seconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
