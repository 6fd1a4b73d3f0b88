-- A word that is also stored in parts had no position. PostgreSQL does not find a phrase whose last word is the beginning of
-- such a word ("abc-1" beside "1cafe"): it cannot tell where it stands. All have the first position now, at which no phrase
-- of several words ends.
CREATE OR REPLACE FUNCTION search_lexemes(words text, prefix text) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  split CONSTANT text := search_split(words);
BEGIN
  RETURN concat(
    (SELECT string_agg(' ''' || prefix || left(word, 64) || ''':' || n, '')
      FROM string_to_table(split, ' ') WITH ORDINALITY AS found (word, n)),
    CASE WHEN split <> words THEN (
      SELECT string_agg(' ''' || prefix || left(whole[1], 64) || ''':1', '')
      FROM regexp_matches(words, '(?<![^ ])[^ ]*(?:[0-9][' || search_latin() || ']|[' || search_latin() || '][0-9])[^ ]*', 'g') AS whole
    ) END
  );
END
$$;--> statement-breakpoint
-- The entries that have such words. Groups of letters and Arabic words without their article have no position, behind "~",
-- and are in no phrase with the beginning of a word.
UPDATE search_entries SET words = search_keys(sources.workspace_id, sources.kind, sources.title, sources.body)
FROM search_sources AS sources
WHERE sources.id = search_entries.id AND sources.workspace_id = search_entries.workspace_id
  AND EXISTS (SELECT FROM unnest(search_entries.words) WHERE positions IS NULL AND substr(lexeme, 9, 1) <> '~');
