import type pg from 'pg'

// Not in it: constraints of the kind `n`, which PostgreSQL 18 makes for columns that are not null, and `attoptions`, in
// which releases such as 15.20 of Debian keep a version of their own.
const statement = `
  with own as (
    select * from pg_class
    where relnamespace = 'public'::regnamespace
      and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')
  ), columns as (
    select attrelid, string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod),
        case when attnotnull then 'not null' end,
        case when attcollation <> typcollation then 'collate ' || attcollation::regcollation end,
        'generated ' || nullif(attgenerated, '')::text, 'identity ' || nullif(attidentity, '')::text, 'default ' || pg_get_expr(adbin, adrelid),
        case when attstorage <> typstorage then 'storage ' || attstorage::text end,
        'compression ' || nullif(attcompression, '')::text, nullif(attstattarget, -1)), ', ' order by attname collate "C") as list
    from pg_attribute
      join pg_type on pg_type.oid = atttypid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attnum > 0 and not attisdropped
    group by attrelid
  )
  select line from (
    select concat_ws(' ', 'extension', extname, extnamespace::regnamespace) as line from pg_extension where extname <> 'plpgsql'
    union all
    select concat_ws(' ', 'relation', relkind, relpersistence, relname, '(' || list || ')', reloptions,
      case when relrowsecurity then 'row security' end)
      from own left join columns on attrelid = own.oid where relkind not in ('i', 'I')
    union all
    select concat_ws(' ', pg_get_indexdef(own.oid), reloptions) from own where relkind in ('i', 'I')
    union all
    select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid))
      from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n'
    union all
    select pg_get_triggerdef(pg_trigger.oid) from pg_trigger join own on own.oid = tgrelid where not tgisinternal
    union all
    select pg_get_functiondef(oid) from pg_proc
      where pronamespace = 'public'::regnamespace and prokind <> 'a'
        and not exists (select from pg_depend where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e')
    union all
    select concat_ws(' ', 'type', typtype, typname, format_type(nullif(typbasetype, 0), typtypmod)) from pg_type
      where typnamespace = 'public'::regnamespace and typtype in ('d', 'e', 'r')
    union all
    select concat_ws(' ', 'comment', pg_describe_object(classoid, objoid, objsubid), description)
      from pg_description join own on own.oid = objoid and classoid = 'pg_class'::regclass
  ) as lines order by line collate "C"`

/**
 * The schema `public` of a database, in a text that is the same for every version of PostgreSQL: a line for each
 * extension, table with its columns by name, constraint, index, trigger, function, type and comment.
 */
export async function describeSchema(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ line: string }>(statement)
  return rows.map(({ line }) => `${line}\n`).join('')
}
