-- The entries of the version before, in the form of the migration before. Apart from it, since that locks tables: here only
-- changes of what is being rewritten wait, and nothing that is new. Only those without positions are of the former form. A
-- row that has changed meanwhile is looked at again, and left as it is, since triggers wrote it.
UPDATE search_entries SET words = search_keys(sources.workspace_id, sources.kind, sources.title, sources.body)
FROM search_sources AS sources
WHERE sources.id = search_entries.id AND sources.workspace_id = search_entries.workspace_id
  AND search_entries.words = strip(search_entries.words);
