package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/persistence"
	"go.temporal.io/server/common/persistence/serialization"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/searchattribute/sadefs"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"
)

// prepareNamespace makes the namespace, or adds to it the search attributes that
// it lacks. The retention of one that exists is its own affair.
func prepareNamespace(ctx context.Context, db sqlplugin.DB, name string, o options) error {
	rows, err := db.SelectFromNamespace(ctx, sqlplugin.NamespaceFilter{Name: &name})
	if err == nil && len(rows) == 1 {
		return updateNamespace(ctx, db, rows[0], o.SearchAttributes)
	}
	// The plugin answers a missing row with an error of no particular kind: a broken
	// database is told by the insertion.
	return createNamespace(ctx, db, name, o)
}

func createNamespace(ctx context.Context, db sqlplugin.DB, name string, o options) error {
	ns, err := sqliteschema.NewNamespaceConfig(clusterName, name, false, nil)
	if err != nil {
		return err
	}
	ns.Detail.Config.Retention = durationpb.New(o.Retention)
	ns.Detail.Config.CustomSearchAttributeAliases, _, err = addAliases(nil, o.SearchAttributes)
	if err != nil {
		return err
	}
	blob, err := serialization.NewSerializer().NamespaceDetailToBlob(ns.Detail)
	if err != nil {
		return fmt.Errorf("encode it: %w", err)
	}
	id, err := primitives.ParseUUID(ns.Detail.GetInfo().GetId())
	if err != nil {
		return fmt.Errorf("name it: %w", err)
	}
	_, err = db.InsertIntoNamespace(ctx, &sqlplugin.NamespaceRow{
		ID: id, Name: name, Data: blob.GetData(), DataEncoding: blob.GetEncodingType().String(),
	})
	return err
}

func updateNamespace(ctx context.Context, db sqlplugin.DB, row sqlplugin.NamespaceRow, want map[string]enumspb.IndexedValueType) error {
	serializer := serialization.NewSerializer()
	detail, err := serializer.NamespaceDetailFromBlob(persistence.NewDataBlob(row.Data, row.DataEncoding))
	if err != nil {
		return fmt.Errorf("decode it: %w", err)
	}
	aliases, changed, err := addAliases(detail.GetConfig().GetCustomSearchAttributeAliases(), want)
	if err != nil || !changed {
		return err
	}
	detail.Config.CustomSearchAttributeAliases = aliases
	blob, err := serializer.NamespaceDetailToBlob(detail)
	if err != nil {
		return fmt.Errorf("encode it: %w", err)
	}
	row.Data, row.DataEncoding = blob.GetData(), blob.GetEncodingType().String()
	_, err = db.UpdateNamespace(ctx, &row)
	return err
}

// addAliases gives each wanted search attribute a column of its type that is not
// used yet. Aliases go from the column to the attribute's name.
func addAliases(have map[string]string, want map[string]enumspb.IndexedValueType) (map[string]string, bool, error) {
	columns := sadefs.GetDBIndexSearchAttributes(nil).CustomSearchAttributes
	aliases := maps.Clone(have)
	if aliases == nil {
		aliases = map[string]string{}
	}
	typeOf := map[string]enumspb.IndexedValueType{}
	for column, name := range aliases {
		typeOf[name] = columns[column]
	}
	changed := false
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if is, known := typeOf[name]; known {
			if is != want[name] {
				return nil, false, fmt.Errorf("search attribute %s is a %s already and cannot become a %s", name, is, want[name])
			}
			continue
		}
		column, err := freeColumn(columns, aliases, want[name])
		if err != nil {
			return nil, false, fmt.Errorf("add search attribute %s: %w", name, err)
		}
		aliases[column] = name
		changed = true
	}
	return aliases, changed, nil
}

func freeColumn(columns map[string]enumspb.IndexedValueType, aliases map[string]string, t enumspb.IndexedValueType) (string, error) {
	used := 0
	for _, column := range slices.Sorted(maps.Keys(columns)) {
		if columns[column] != t {
			continue
		}
		if _, taken := aliases[column]; !taken {
			return column, nil
		}
		used++
	}
	return "", fmt.Errorf("all %d search attributes of type %s are used", used, t)
}
