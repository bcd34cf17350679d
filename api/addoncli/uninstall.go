package addoncli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/fairlead/api/client"
)

const (
	flagKeepObjects = "keep-objects"
	flagYes         = "yes"
)

// lasting are the kinds whose objects an uninstall leaves: more would go with them than
// themselves.
var lasting = []string{"CustomResourceDefinition", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "StorageClass"}

// removing is an `uninstall` with its flags.
type removing struct {
	commands
	keep, yes bool
}

func (c commands) uninstall() *cobra.Command {
	r := removing{commands: c}
	cmd := &cobra.Command{
		Use:   "uninstall NAME",
		Short: "Delete an add-on, and its objects",
		Long: `Deletes an add-on. Its hooks for that run, and then its objects are deleted, those that
need others before those. What stays: ` + strings.Join(lasting[:len(lasting)-1], "s, ") + `s
and ` + lasting[len(lasting)-1] + `es, and what its source asks to keep.
With --` + flagKeepObjects + ` all objects stay and run on, and nobody looks after them any more.
It asks before it does anything. An add-on that is defined in git is deleted there.`,
		Example: `  fairlead addon uninstall longhorn
  fairlead addon uninstall longhorn --` + flagKeepObjects + `
  fairlead addon uninstall longhorn --` + flagYes,
		Args: named("uninstall NAME"),
	}
	cmd.Flags().BoolVar(&r.keep, flagKeepObjects, false, "leave its objects in the cluster")
	cmd.Flags().BoolVarP(&r.yes, flagYes, "y", false, "do not ask")
	return c.connected(cmd, r.run)
}

func (r *removing) run(ctx context.Context, api *client.Client, cmd *cobra.Command, args []string) error {
	if !r.yes && !r.terminal(cmd.InOrStdin()) {
		return fmt.Errorf("nobody can be asked: give --%s", flagYes)
	}
	a, err := api.Addon(ctx, args[0])
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if _, err := fmt.Fprintln(out, r.meaning(a)); err != nil {
		return err
	}
	if !r.yes {
		sure, err := agreed(ctx, cmd.InOrStdin(), out)
		if err != nil {
			return err
		}
		if !sure {
			return errors.New("nothing was done")
		}
	}
	removal, err := api.DeleteAddon(ctx, args[0], !r.keep)
	switch {
	case errors.Is(err, client.ErrUnknownAddon): // it was there a moment ago
		_, err = fmt.Fprintf(out, "add-on %s is gone\n", args[0])
	case err == nil && removal.Uninstall:
		_, err = fmt.Fprintf(out, "add-on %s is being uninstalled; fairlead addon list shows it until it is gone\n", args[0])
	case err == nil:
		_, err = fmt.Fprintf(out, "add-on %s is being deleted, and its objects stay\n", args[0])
	}
	return err
}

// meaning says what becomes of the objects.
func (r *removing) meaning(a client.AddonDetails) string {
	name := safe(a.Name)
	if r.keep {
		return fmt.Sprintf("add-on %s is deleted, and its %d objects stay: nobody looks after them any more", name, a.ObjectsTotal)
	}
	stay := map[string]int{}
	for _, o := range a.Objects {
		if slices.Contains(lasting, o.Kind) {
			stay[o.Kind]++
		}
	}
	staying, parts := 0, []string{}
	for _, kind := range slices.Sorted(maps.Keys(stay)) {
		staying += stay[kind]
		parts = append(parts, fmt.Sprintf("%d %s", stay[kind], kind))
	}
	text := fmt.Sprintf("add-on %s is deleted, and of its %d objects %d go", name, a.ObjectsTotal, a.ObjectsTotal-staying)
	if len(a.Objects) < a.ObjectsTotal {
		text = fmt.Sprintf("add-on %s is deleted, and of its %d objects all go but those of kinds that stay", name, a.ObjectsTotal)
	}
	if staying > 0 {
		text += "; what stays: " + strings.Join(parts, ", ")
	}
	return text + "; and what its source asks to keep stays"
}

// agreed asks. Whoever says nothing, or interrupts, does not agree.
func agreed(ctx context.Context, in io.Reader, out io.Writer) (bool, error) {
	if _, err := fmt.Fprint(out, "do it? [y/N] "); err != nil {
		return false, err
	}
	answers := make(chan string, 1)
	go func() { // it ends with this process, at the latest
		text, _ := bufio.NewReader(in).ReadString('\n')
		answers <- text
	}()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case text := <-answers:
		said := strings.ToLower(strings.TrimSpace(text))
		return said == "y" || said == "yes", nil
	}
}
