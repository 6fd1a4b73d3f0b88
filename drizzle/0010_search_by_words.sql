-- Taken first, and for a moment: a change that is under way ends before the functions are others, so that the next migration
-- sees all that was written by the former ones. Reads go on.
LOCK TABLE seeds, evidence, comments, teams, memberships, users, invites IN SHARE ROW EXCLUSIVE MODE;--> statement-breakpoint
CREATE INDEX "invites_by_lower_email_idx" ON "invites" USING btree (lower("email"));--> statement-breakpoint
-- Classes of characters, for regular expressions. They are code points, since those of the locale differ between databases.
-- What ends a word, beside a space: neither letters nor digits.
CREATE FUNCTION search_signs() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT '\u0001-\u001f\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u055a-\u055f\u0589\u05be\u05c0\u05c3\u05f3\u05f4\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u0970\u0e3f\u0e4f\u0e5a\u0e5b\u0f0b-\u0f14\u104a-\u104f\u17d4-\u17d6\u17d8-\u17db\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u303f\u30a0\u30fb\ufe00-\ufe0f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\U000e0000-\U000e01ef'
$$;--> statement-breakpoint
CREATE FUNCTION search_latin() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT 'a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff'
$$;--> statement-breakpoint
-- Scripts without spaces between words.
CREATE FUNCTION search_unspaced() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT '\u0e01-\u0e3e\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17d7\u17dc\u17dd\u1950-\u19df\u1a20-\u1aaf\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uf900-\ufaff\U00020000-\U0003ffff'
$$;--> statement-breakpoint
-- Accents and vowel signs that are left out, and what is not seen.
CREATE FUNCTION search_marks() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT '\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u200b\u2060'
$$;--> statement-breakpoint
-- The form in which texts are compared: one form of each character, without accents and vowel signs, in lower case.
CREATE FUNCTION search_form(body text) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  form text;
BEGIN
  -- Nothing but ASCII.
  IF octet_length(body) = length(body) THEN
    RETURN lower(body);
  END IF;
  -- PostgreSQL sorts marks that follow each other in a time that grows with the square of their number. A text with so many
  -- characters in a row that may be marks is normalized in pieces.
  IF body ~ '[^\u0001-\u02ff\u0370-\u0482\u048a-\u0590\u1100-\u135c\u1e00-\u20cf\u2100-\u2cee\u3000-\u3029\u3030-\u3098\u309b-\ua66e\uac00-\ufb1d\ufb1f-\ufe1f\ufe30-\uffff\U0001f000-\U0001faff\U00020000-\U0003ffff]{32}' THEN
    form := (SELECT string_agg(normalize(piece[1], NFKC), '') FROM regexp_matches(body, '.{1,64}', 'g') AS piece);
  ELSE
    form := normalize(body, NFKC);
  END IF;
  -- One character can become 18, as U+FDFA: what is behind twice the length is not found.
  form := lower(unaccent(left(form, 2 * length(body) + 64)));
  IF octet_length(form) = length(form) THEN
    RETURN form;
  END IF;
  -- Only if needed, since they take longer than all else.
  IF form ~ ('[' || search_marks() || ']') THEN
    form := regexp_replace(form, '[' || search_marks() || ']+', '', 'g');
  END IF;
  IF form ~ '[\u03c2\u0622-\u0629\u0649\u0660-\u0671\u06f0-\u06f9]' THEN
    form := translate(
      form,
      U&'\0622\0623\0625\0671\0649\0629\03C2\0660\0661\0662\0663\0664\0665\0666\0667\0668\0669\06F0\06F1\06F2\06F3\06F4\06F5\06F6\06F7\06F8\06F9',
      U&'\0627\0627\0627\0627\064A\0647\03C301234567890123456789'
    );
  END IF;
  RETURN form;
END
$$;--> statement-breakpoint
-- Whether a text has a character of a script without spaces.
CREATE FUNCTION search_is_unspaced(form text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT form ~ ('[' || search_unspaced() || ']')
$$;--> statement-breakpoint
-- Words, with a space where a letter meets a digit: "iphone 15" for "iphone15". One or two letters behind digits stay with
-- them, as in "15th", and a word of more than five parts is an id, and stays whole.
CREATE FUNCTION search_split(words text) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  digits CONSTANT text := '[0-9]@(?:[' || search_latin() || ']{1,2}(?![' || search_latin() || ']))?';
  letters CONSTANT text := '([' || search_latin() || ']*)';
BEGIN
  IF words !~ ('[' || search_latin() || '][0-9]|[0-9][' || search_latin() || ']{3}') THEN
    RETURN words;
  END IF;
  RETURN trim(regexp_replace(regexp_replace(
    words,
    '(?<![^ ])' || letters || '(' || replace(digits, '@', '+') || ')' || letters || '(' || replace(digits, '@', '*') || ')' || letters || '(?![^ ])',
    '\1 \2 \3 \4 \5', 'g'
  ), ' +', ' ', 'g'));
END
$$;--> statement-breakpoint
-- The words of a form, one after the other, with a space between them. A word ends at a sign, and where the script changes:
-- of scripts without spaces, of Latin with digits, of all others. A run of a script without spaces becomes its pairs of
-- characters and the last one.
CREATE FUNCTION search_list(form text) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  latin CONSTANT text := '0-9' || search_latin();
  words text;
BEGIN
  -- Not every space is replaced by one: most of them are single, and each replacement takes time.
  IF octet_length(form) = length(form) THEN
    RETURN trim(regexp_replace(form, '[^0-9a-z]*[^ 0-9a-z][^0-9a-z]*|  +', ' ', 'g'));
  END IF;
  words := trim(regexp_replace(form, '[ ' || search_signs() || ']*[' || search_signs() || '][ ' || search_signs() || ']*|  +', ' ', 'g'));
  IF words ~ ('[' || latin || '][^ ' || latin || ']|[^ ' || latin || '][' || latin || ']') THEN
    words := regexp_replace(words, '([' || latin || '])(?=[^ ' || latin || '])', '\1 ', 'g');
    words := regexp_replace(words, '([^ ' || latin || '])(?=[' || latin || '])', '\1 ', 'g');
  END IF;
  IF NOT search_is_unspaced(words) THEN
    RETURN words;
  END IF;
  RETURN (
    SELECT coalesce(string_agg(letter || coalesce(next, ''), ' '), '')
    -- U+0001 marks the runs of such a script.
    FROM string_to_table(regexp_replace(words, '([' || search_unspaced() || ']+)', E' \x01\\1 ', 'g'), ' ') AS found (run),
      LATERAL (SELECT CASE WHEN left(run, 1) = E'\x01' THEN string_to_array(substr(run, 2), NULL) ELSE ARRAY[run] END AS letters OFFSET 0) AS parts,
      unnest(letters, letters[2:]) AS pairs (letter, next)
    WHERE run <> ''
  );
END
$$;--> statement-breakpoint
-- The words of a list with their positions, and without one those that are also stored in parts: what `tsvector` reads, each
-- word behind a space and with this prefix.
CREATE FUNCTION search_lexemes(words text, prefix text) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  split CONSTANT text := search_split(words);
BEGIN
  RETURN concat(
    (SELECT string_agg(' ''' || prefix || left(word, 64) || ''':' || n, '')
      FROM string_to_table(split, ' ') WITH ORDINALITY AS found (word, n)),
    CASE WHEN split <> words THEN (
      SELECT string_agg(' ''' || prefix || left(whole[1], 64) || '''', '')
      FROM regexp_matches(words, '(?<![^ ])[^ ]*(?:[0-9][' || search_latin() || ']|[' || search_latin() || '][0-9])[^ ]*', 'g') AS whole
    ) END
  );
END
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_words(body text) RETURNS text[] LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN string_to_array(search_list(search_form(body)), ' ');
END
$$;--> statement-breakpoint
-- A word without an Arabic article and the particles before it.
CREATE FUNCTION search_stem(word text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT regexp_replace(word, '^[\u0648\u0641]?([\u0628\u0643]?\u0627\u0644|\u0644\u0644)([\u0620-\u064a]{2,})$', '\2')
$$;--> statement-breakpoint
-- What an entry is found by, the same in all workspaces, for `search_in_workspace`: the words with their positions, for
-- phrases, those of the title twice, as such and as words of the whole. For the second look, also the groups of three letters
-- of titles, names and addresses, and Arabic words without their article.
CREATE FUNCTION search_lexemes_of(kind text, title text, body text) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  initial CONSTANT text := left(kind, 1);
  words CONSTANT text := search_list(search_form(body));
  title_words CONSTANT text := CASE WHEN title = '' THEN '' ELSE search_list(search_form(title)) END;
  named CONSTANT text := title_words || CASE WHEN kind IN ('person', 'invited') THEN ' ' || words ELSE '' END;
  lexemes text := search_lexemes(words, initial);
  titled text;
  letters text[];
BEGIN
  IF title_words <> '' THEN
    titled := search_lexemes(title_words, initial);
    -- With a gap between them, so that no phrase begins in the title and ends behind it.
    lexemes := concat(
      replace(titled, ' ''' || initial, ' ''' || upper(initial)), ' ',
      ts_delete(titled::tsvector || '''~'':1'::tsvector || lexemes::tsvector, '~')
    );
  END IF;
  IF named <> '' THEN
    letters := string_to_array('^' || replace(trim(regexp_replace(' ' || named || ' ', ' [^ ]{1,2}(?= )', '', 'g')), ' ', '$ ^') || '$', NULL);
    lexemes := concat(lexemes, (
      SELECT string_agg(' ''~' || initial || a || b || c || ''':' || i, '')
      FROM unnest(letters, letters[2:], letters[3:]) WITH ORDINALITY AS groups (a, b, c, i)
      WHERE a <> ' ' AND b <> ' ' AND c <> ' ' AND b <> '$'
    ));
  END IF;
  IF named || words ~ '\u0644[\u0620-\u064a]' THEN
    lexemes := concat(lexemes, (
      SELECT string_agg(' ''~' || initial || left(stem[1], 64) || '''', '')
      FROM regexp_matches(
        title_words || ' ' || words,
        '(?<![^ ])[\u0648\u0641]?(?:[\u0628\u0643]?\u0627\u0644|\u0644\u0644)([\u0620-\u064a]{2,})(?![^ ])', 'g'
      ) AS stem
    ));
  END IF;
  RETURN lexemes;
END
$$;--> statement-breakpoint
-- The same with what the words of a workspace begin with in the index.
CREATE FUNCTION search_in_workspace(workspace_id uuid, lexemes text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT replace(' ' || lexemes, ' ''', ' ''' || left(search_scope(workspace_id, '', false), 8))::tsvector
$$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION search_keys(workspace_id uuid, kind text, title text, body text) RETURNS tsvector LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
  RETURN search_in_workspace(workspace_id, search_lexemes_of(kind, title, body));
END
$$;--> statement-breakpoint
-- What is asked for, in parts that must all be found: what is in quotes, and what spaces separate otherwise. A quote that is
-- not closed is still being typed.
CREATE FUNCTION search_parts(asked text) RETURNS TABLE (n bigint, body text, is_quoted boolean, is_closed boolean) LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
#variable_conflict use_column
DECLARE
  pieces CONSTANT text[] := string_to_array(translate(asked, U&'\201C\201D\201E\201F\00AB\00BB\FF02', '"""""""'), '"');
BEGIN
  RETURN QUERY
  SELECT row_number() OVER (ORDER BY i, j), part, i % 2 = 0, i % 2 = 0 AND i < cardinality(pieces)
  FROM unnest(pieces) WITH ORDINALITY AS found (piece, i),
    unnest(CASE WHEN i % 2 = 0 THEN ARRAY[piece] ELSE regexp_split_to_array(piece, '[\u0001-\u0020\u00a0\u3000]+') END) WITH ORDINALITY AS split (part, j);
END
$$;--> statement-breakpoint
-- Asks for words that follow each other, as text; of the last one, only for the beginning if it is a prefix. One character
-- of a script without spaces is always the beginning of a pair. What is stored in parts is asked for as a whole too, since
-- its parts alone are common. Null for a text without words.
CREATE FUNCTION search_phrase(scope text, body text, is_prefix boolean) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  list CONSTANT text := search_list(search_form(body));
  whole CONSTANT text[] := string_to_array(list, ' ');
  words text[] := whole;
  last integer := cardinality(whole);
  ending text := CASE WHEN is_prefix THEN ''':*' ELSE '''' END;
BEGIN
  IF last = 0 THEN
    RETURN NULL;
  ELSIF last > 1 THEN
    words := string_to_array(search_split(list), ' ');
    last := cardinality(words);
  END IF;
  IF length(words[last]) = 1 AND search_is_unspaced(words[last]) THEN
    IF last > 1 AND length(words[last - 1]) = 2 AND right(words[last - 1], 1) = words[last] THEN
      -- The pair before it ends with it.
      last := last - 1;
    ELSE
      ending := ''':*';
    END IF;
  END IF;
  RETURN '(' || (
    SELECT string_agg('''' || scope || left(word, 64) || CASE WHEN n = last THEN ending ELSE '''' END, ' <-> ' ORDER BY n)
    FROM unnest(words[:last]) WITH ORDINALITY AS found (word, n)
  ) || coalesce((
    SELECT string_agg(' & ''' || scope || left(word, 64) || CASE WHEN n = cardinality(whole) THEN ending ELSE '''' END, '')
    FROM unnest(whole) WITH ORDINALITY AS found (word, n) WHERE word <> ALL (words)
  ), '') || ')';
END
$$;--> statement-breakpoint
-- Asks for all parts of a text. Null for a text without words.
CREATE OR REPLACE FUNCTION search_query(workspace_id uuid, kind text, in_title boolean, is_prefix boolean, asked text) RETURNS tsquery LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  scope CONSTANT text := search_scope(workspace_id, kind, in_title);
BEGIN
  -- The same for words of ASCII, in a fraction of the time: a search calls this for each kind and rank.
  IF asked ~ '^[0-9A-Za-z ]+$' THEN
    RETURN (
      SELECT string_agg('''' || scope || left(word, 64) || CASE WHEN is_prefix THEN ''':*' ELSE '''' END, ' & ')::tsquery
      FROM string_to_table(lower(asked), ' ') AS word WHERE word <> ''
    );
  END IF;
  RETURN (SELECT string_agg(search_phrase(scope, body, is_prefix AND NOT is_closed), ' & ')::tsquery FROM search_parts(asked));
END
$$;--> statement-breakpoint
-- Groups of three letters of a word, one after the other.
CREATE FUNCTION search_groups(scope text, word text, first integer, last integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT '(' || string_agg('''' || scope || substr(word, i, 3) || '''', ' <-> ' ORDER BY i) || ')' FROM generate_series(first, last) AS i
$$;--> statement-breakpoint
-- The second look: what `search_query` asks for, or something similar: another number in English, Arabic words with or
-- without an article, letters and digits with a separator between them, and of names and titles the middle of words, and
-- words with a mistake in them. What is in quotes stays as it is. The same for all kinds and workspaces: `search_in_scope`
-- puts the scope of words for each "=", and that of what is similar for each "~". Null for a text without words.
CREATE FUNCTION search_similar_form(is_prefix boolean, has_groups boolean, asked text, with_mistakes boolean) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
  ending CONSTANT text := CASE WHEN is_prefix THEN ''':*' ELSE '''' END;
  part record;
  list text;
  words text[];
  word text;
  stem text;
  padded text;
  lost integer;
  found text[];
  parts text[] := '{}';
BEGIN
  FOR part IN SELECT * FROM search_parts(asked) ORDER BY n LOOP
    list := search_list(search_form(part.body));
    CONTINUE WHEN list = '';
    IF part.is_quoted OR search_is_unspaced(list) THEN
      parts := parts || search_phrase('=', part.body, is_prefix AND NOT part.is_closed);
      CONTINUE;
    END IF;
    words := string_to_array(list, ' ');
    FOREACH word IN ARRAY words LOOP
      -- In "gel_1", the 1 tells nothing.
      CONTINUE WHEN length(word) < 3 AND EXISTS (SELECT FROM unnest(words) AS other WHERE length(other) > 2);
      word := left(word, 64);
      found := ARRAY['''=' || word || ending];
      FOREACH stem IN ARRAY CASE
        WHEN word ~ '^[a-z]{2,}ies$' THEN ARRAY[left(word, -3) || 'y', left(word, -1)]
        WHEN word ~ '^[a-z]{2,}(s|x|z|ch|sh)es$' THEN ARRAY[left(word, -1), left(word, -2)]
        WHEN word ~ '^[a-z]{2,}[^sui]s$' THEN ARRAY[left(word, -1)]
        WHEN word ~ '^[a-z]{2,}y$' THEN ARRAY[left(word, -1) || 'ies']
        WHEN word ~ '^[\u0620-\u064a]' THEN ARRAY[search_stem(word)]
        ELSE '{}'
      END LOOP
        found := found || ('''=' || stem || ending);
      END LOOP;
      IF word ~ '^[\u0620-\u064a]' THEN
        found := found || ('''~' || search_stem(word) || ending);
      ELSIF search_split(word) <> word THEN
        found := found || ('(''=' || replace(search_split(word), ' ', ''' <-> ''=') || ending || ')');
      END IF;
      IF has_groups AND length(word) BETWEEN 3 AND 24 THEN
        found := found || search_groups('~', word, 1, length(word) - 2);
        IF with_mistakes AND length(word) > 4 THEN
          padded := '^' || word || '$';
          -- Three groups have the wrong letter in them. Of longer words, four: two letters may have changed places.
          lost := CASE WHEN length(word) > 6 THEN 4 ELSE 3 END;
          FOR kept IN 0 .. length(word) - lost LOOP
            -- Too little is left of a short word if its beginning or its end is the mistake.
            CONTINUE WHEN (kept = 0 AND length(word) - lost < 4) OR (kept = length(word) - lost AND kept < 3);
            found := found || concat_ws(' & ', search_groups('~', padded, 1, kept), search_groups('~', padded, kept + lost + 1, length(word)));
          END LOOP;
        END IF;
      END IF;
      parts := parts || ('(' || array_to_string(found, ' | ') || ')');
    END LOOP;
  END LOOP;
  RETURN nullif(array_to_string(parts, ' & '), '');
END
$$;--> statement-breakpoint
CREATE FUNCTION search_in_scope(workspace_id uuid, kind text, in_title boolean, form text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT replace(
    replace(form, '~', left(search_scope(workspace_id, kind, false), 8) || '~' || left(kind, 1)),
    '=', search_scope(workspace_id, kind, in_title)
  )::tsquery
$$;--> statement-breakpoint
CREATE FUNCTION search_similar(workspace_id uuid, kind text, in_title boolean, is_prefix boolean, asked text, with_mistakes boolean) RETURNS tsquery LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT search_in_scope(
    workspace_id, kind, in_title,
    search_similar_form(is_prefix, is_prefix AND kind NOT IN ('evidence', 'comment'), asked, with_mistakes)
  )
$$;--> statement-breakpoint
-- What can be found. Evidence that was withdrawn, and all of deleted seeds, cannot. The invited are found by those who may
-- list them, in the directory alone; whether an invite has expired is up to the query.
CREATE OR REPLACE VIEW search_sources AS
  SELECT workspace_id, 'seed' AS kind, id, id AS seed_id, created_at AS at, title,
    concat_ws(' ', summary, problem, audience, hypothesis, array_to_string(success_criteria, ' ')) AS body
  FROM seeds WHERE deleted_at IS NULL
  UNION ALL
  SELECT seeds.workspace_id, 'evidence', evidence.id, seeds.id, evidence.created_at, '', evidence.summary
  FROM evidence JOIN seeds ON seeds.id = evidence.seed_id
  WHERE seeds.deleted_at IS NULL AND evidence.withdrawn_at IS NULL
  UNION ALL
  SELECT seeds.workspace_id, 'comment', comments.id, seeds.id, comments.created_at, '',
    -- Of a mention, only the name is to be found, which is not in the text.
    regexp_replace(comments.body, '\(user:[0-9a-f-]{36}\)', '', 'g')
  FROM comments JOIN seeds ON seeds.id = comments.seed_id
  WHERE seeds.deleted_at IS NULL
  UNION ALL
  SELECT memberships.workspace_id, 'person', users.id, NULL, memberships.joined_at, users.name, users.email
  FROM memberships JOIN users ON users.id = memberships.user_id
  UNION ALL
  SELECT workspace_id, 'team', id, NULL, created_at, name, '' FROM teams
  UNION ALL
  SELECT workspace_id, 'invited', id, NULL, created_at, '', email FROM invites WHERE state = 'open';--> statement-breakpoint
-- Keeps the entries of a table. Triggers, since the version before writes these tables too. A statement for each kind:
-- with a parameter for the kind, PostgreSQL would plan it anew for each row. A conflict is an entry whose words change, or
-- that of two changes at once, such as a person who is renamed while they join. Nothing is written if the words are the same.
-- Rows are found by their ids: a plan that was made while a table was small would read all of it for each row of a large
-- insert.
CREATE OR REPLACE FUNCTION search_follow() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_mergejoin = off SET enable_hashjoin = off AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM search_entries WHERE id = OLD.id;
    RETURN NULL;
  END IF;
  IF TG_ARGV[0] = 'seed' THEN
    INSERT INTO search_entries (workspace_id, kind, id, at, words)
    SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body)
    FROM search_sources WHERE kind = 'seed' AND id = NEW.id
    ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words
    WHERE search_entries.words <> excluded.words OR search_entries.at <> excluded.at;
    IF NOT FOUND THEN
      DELETE FROM search_entries WHERE id = NEW.id AND NOT EXISTS (SELECT FROM search_sources WHERE kind = 'seed' AND id = NEW.id);
    END IF;
  ELSIF TG_ARGV[0] = 'evidence' THEN
    INSERT INTO search_entries (workspace_id, kind, id, at, words)
    SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body)
    FROM search_sources WHERE kind = 'evidence' AND id = NEW.id
    ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words
    WHERE search_entries.words <> excluded.words OR search_entries.at <> excluded.at;
    IF NOT FOUND THEN
      DELETE FROM search_entries WHERE id = NEW.id AND NOT EXISTS (SELECT FROM search_sources WHERE kind = 'evidence' AND id = NEW.id);
    END IF;
  ELSIF TG_ARGV[0] = 'comment' THEN
    INSERT INTO search_entries (workspace_id, kind, id, at, words)
    SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body)
    FROM search_sources WHERE kind = 'comment' AND id = NEW.id
    ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words
    WHERE search_entries.words <> excluded.words OR search_entries.at <> excluded.at;
    IF NOT FOUND THEN
      DELETE FROM search_entries WHERE id = NEW.id AND NOT EXISTS (SELECT FROM search_sources WHERE kind = 'comment' AND id = NEW.id);
    END IF;
  ELSIF TG_ARGV[0] = 'person' THEN
    -- Their words are made once, for all of their workspaces.
    INSERT INTO search_entries (workspace_id, kind, id, at, words)
    SELECT memberships.workspace_id, 'person', NEW.id, joined_at, search_in_workspace(memberships.workspace_id, forms.lexemes)
    FROM (SELECT search_lexemes_of('person', NEW.name, NEW.email) AS lexemes OFFSET 0) AS forms, memberships
    WHERE memberships.user_id = NEW.id
    ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words
    WHERE search_entries.words <> excluded.words OR search_entries.at <> excluded.at;
  ELSIF TG_ARGV[0] = 'team' THEN
    INSERT INTO search_entries (workspace_id, kind, id, at, words)
    SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body)
    FROM search_sources WHERE kind = 'team' AND id = NEW.id
    ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words
    WHERE search_entries.words <> excluded.words OR search_entries.at <> excluded.at;
  ELSIF TG_ARGV[0] = 'invited' THEN
    INSERT INTO search_entries (workspace_id, kind, id, at, words)
    SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body)
    FROM search_sources WHERE kind = 'invited' AND id = NEW.id
    ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words
    WHERE search_entries.words <> excluded.words OR search_entries.at <> excluded.at;
    IF NOT FOUND THEN
      DELETE FROM search_entries WHERE id = NEW.id AND NOT EXISTS (SELECT FROM search_sources WHERE kind = 'invited' AND id = NEW.id);
    END IF;
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
ALTER FUNCTION search_follow_deletion() SET enable_seqscan = off;--> statement-breakpoint
ALTER FUNCTION search_follow_deletion() SET enable_mergejoin = off;--> statement-breakpoint
ALTER FUNCTION search_follow_deletion() SET enable_hashjoin = off;--> statement-breakpoint
-- Members and invites, for all that a statement adds: the words of a person or an address are made once, of which there may
-- be an entry in a thousand workspaces. By groups instead of a join, which would keep a plan for few rows.
CREATE OR REPLACE FUNCTION search_follow_membership() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_mergejoin = off SET enable_hashjoin = off AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    DELETE FROM search_entries WHERE id = OLD.user_id AND workspace_id = OLD.workspace_id;
    RETURN NULL;
  END IF;
  INSERT INTO search_entries (workspace_id, kind, id, at, words)
  SELECT joined.workspace_id, 'person', people.user_id, joined.at, search_in_workspace(joined.workspace_id, forms.lexemes)
  FROM (
      SELECT user_id, array_agg(workspace_id) AS workspaces, array_agg(joined_at) AS times FROM added GROUP BY user_id
    ) AS people,
    LATERAL (SELECT search_lexemes_of('person', name, email) AS lexemes FROM users WHERE id = people.user_id OFFSET 0) AS forms,
    unnest(people.workspaces, people.times) AS joined (workspace_id, at)
  ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words;
  RETURN NULL;
END
$$;--> statement-breakpoint
DROP TRIGGER search_follow ON memberships;--> statement-breakpoint
CREATE TRIGGER search_follow AFTER DELETE ON memberships FOR EACH ROW EXECUTE FUNCTION search_follow_membership();--> statement-breakpoint
CREATE TRIGGER search_follow_added AFTER INSERT ON memberships REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION search_follow_membership();--> statement-breakpoint
CREATE FUNCTION search_follow_invites() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_entries (workspace_id, kind, id, at, words)
  SELECT invited.workspace_id, 'invited', invited.id, invited.at, search_in_workspace(invited.workspace_id, addresses.lexemes)
  FROM (
      SELECT search_lexemes_of('invited', '', email) AS lexemes,
        array_agg(workspace_id) AS workspaces, array_agg(id) AS ids, array_agg(created_at) AS times
      FROM added WHERE state = 'open' GROUP BY email
    ) AS addresses,
    unnest(addresses.workspaces, addresses.ids, addresses.times) AS invited (workspace_id, id, at)
  ON CONFLICT (id, workspace_id) DO UPDATE SET at = excluded.at, words = excluded.words;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER search_follow AFTER DELETE OR UPDATE OF email, state
  ON invites FOR EACH ROW EXECUTE FUNCTION search_follow('invited');--> statement-breakpoint
CREATE TRIGGER search_follow_added AFTER INSERT ON invites REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION search_follow_invites();--> statement-breakpoint
INSERT INTO search_entries (workspace_id, kind, id, at, words)
SELECT workspace_id, kind, id, at, search_keys(workspace_id, kind, title, body) FROM search_sources WHERE kind = 'invited';
