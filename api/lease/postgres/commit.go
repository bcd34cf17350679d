package postgres

import (
	"context"
	"fmt"

	"example.com/fairlead/api/lease"
)

// commit writes a group if the row is ours: $4 to $6 are kinds, keys, and values, which are
// null for what is gone. That is looked up thing by thing, as a join may read the whole table
// after the plan was made for a small one.
const commit = `
WITH mine AS (` + renewRow + `), changes AS (
	SELECT kind, key, value FROM unnest($4::smallint[], $5::bytea[], $6::bytea[]) AS c(kind, key, value)
), gone AS (
	DELETE FROM state WHERE ctid = ANY(ARRAY(
		SELECT (SELECT s.ctid FROM state s WHERE s.kind = c.kind AND s.key = c.key) FROM mine, changes c WHERE c.value IS NULL))
), kept AS (
	INSERT INTO state SELECT c.kind, c.key, c.value FROM mine, changes c WHERE c.value IS NOT NULL
	ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value
)
SELECT epoch FROM mine`

// Commit keeps changes in one statement, which is all or nothing, if this replica leads.
func (j *Journal) Commit(ctx context.Context, changes []lease.Change) error {
	kinds, keys, values := columns(changes)
	if err := j.renewing(ctx, commit, kinds, keys, values); err != nil {
		return fmt.Errorf("keep %d changes in %s: %w", len(changes), remedy, err)
	}
	return nil
}

// columns are the last changes of each thing. A statement can change a row only once.
func columns(changes []lease.Change) (kinds []int16, keys, values [][]byte) {
	type thing struct {
		kind lease.Kind
		key  string
	}
	at := make(map[thing]int, len(changes))
	kinds, keys, values = make([]int16, 0, len(changes)), make([][]byte, 0, len(changes)), make([][]byte, 0, len(changes))
	for _, c := range changes {
		id := thing{c.Kind, c.Key}
		if i, found := at[id]; found {
			values[i] = c.Value
			continue
		}
		at[id] = len(kinds)
		kinds, keys, values = append(kinds, int16(c.Kind)), append(keys, []byte(c.Key)), append(values, c.Value)
	}
	return kinds, keys, values
}
