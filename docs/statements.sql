-- The prepared statements of the service, by their names: the SQL of all hot paths and changes.
-- Made by `npm run docs`.

-- agent_grants_select_ended
select
  "client_name",
  coalesce("revoked_at", "expires_at")
from
  "agent_grants"
where
  (
    "agent_grants"."workspace_id" = $1
    and "agent_grants"."user_id" = $2
    and coalesce("agent_grants"."revoked_at", "agent_grants"."expires_at") between $3 and $4
    and not exists (
      select
      from
        "agent_grants" as later
      where
        later.workspace_id = "agent_grants"."workspace_id"
        and later.user_id = "agent_grants"."user_id"
        and later.client_id = "agent_grants"."client_id"
        and later.created_at > "agent_grants"."created_at"
    )
    and not exists (
      select
      from
        "events"
      where
        "events"."workspace_id" = "agent_grants"."workspace_id"
        and "events"."target_id" = "agent_grants"."id"
        and "events"."type" = 'integration.revoked'
        and "events"."actor_user_id" = "agent_grants"."user_id"
    )
  )
order by
  coalesce("agent_grants"."revoked_at", "agent_grants"."expires_at") desc,
  "agent_grants"."id" desc
limit
  $5;

-- agent_grants_select_live
select
  "agent_grants"."id",
  "agent_grants"."client_id",
  "agent_grants"."client_name",
  "agent_grants"."scopes",
  "agent_grants"."expires_at",
  "users"."id",
  "users"."name",
  "users"."email",
  "users"."email_verified_at",
  "users"."image_key",
  "workspaces"."id",
  "workspaces"."name",
  "workspaces"."slug",
  "memberships"."role"
from
  "agent_grants"
  inner join "memberships" on (
    "memberships"."workspace_id" = "agent_grants"."workspace_id"
    and "memberships"."user_id" = "agent_grants"."user_id"
  )
  inner join "users" on "users"."id" = "agent_grants"."user_id"
  inner join "workspaces" on "workspaces"."id" = "agent_grants"."workspace_id"
where
  (
    "agent_grants"."id" = any (
      (
        select
          $1::uuid[]
      )::uuid[]
    )
    and "agent_grants"."revoked_at" is null
    and "agent_grants"."expires_at" > $2
  );

-- agent_grants_select_of_person
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "agent_grants"."id" as "id",
      "agent_grants"."client_id" as "clientId",
      "agent_grants"."client_name" as "clientName",
      "agent_grants"."client_uri" as "clientUri",
      "agent_grants"."user_id" as "userId",
      "users"."name" as "userName",
      "agent_grants"."scopes" as "scopes",
      to_char("agent_grants"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("agent_grants"."last_used_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastUsedAt",
      to_char("agent_grants"."expires_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "expiresAt"
    from
      "agent_grants"
      inner join "users" on "users"."id" = "agent_grants"."user_id"
    where
      (
        "agent_grants"."workspace_id" = $1
        and "agent_grants"."user_id" = $2
        and "agent_grants"."revoked_at" is null
        and "agent_grants"."expires_at" > $3
        and ("agent_grants"."created_at", "agent_grants"."id") < (
          (
            select
              $4::timestamptz
          ),
          (
            select
              $5::uuid
          )
        )
      )
    order by
      "agent_grants"."created_at" desc,
      "agent_grants"."id" desc
    limit
      (
        select
          $6::int
      )
  ) "rows";

-- agent_grants_select_of_workspace
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "agent_grants"."id" as "id",
      "agent_grants"."client_id" as "clientId",
      "agent_grants"."client_name" as "clientName",
      "agent_grants"."client_uri" as "clientUri",
      "agent_grants"."user_id" as "userId",
      "users"."name" as "userName",
      "agent_grants"."scopes" as "scopes",
      to_char("agent_grants"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("agent_grants"."last_used_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastUsedAt",
      to_char("agent_grants"."expires_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "expiresAt"
    from
      "agent_grants"
      inner join "users" on "users"."id" = "agent_grants"."user_id"
    where
      (
        "agent_grants"."workspace_id" = $1
        and "agent_grants"."revoked_at" is null
        and "agent_grants"."expires_at" > $2
        and ("agent_grants"."created_at", "agent_grants"."id") < (
          (
            select
              $3::timestamptz
          ),
          (
            select
              $4::uuid
          )
        )
      )
    order by
      "agent_grants"."created_at" desc,
      "agent_grants"."id" desc
    limit
      (
        select
          $5::int
      )
  ) "rows";

-- api_keys_lock_active
select
  "id"
from
  "api_keys"
where
  (
    "api_keys"."id" = $1
    and "api_keys"."revoked_at" is null
  )
for share;

-- api_keys_select_active
select
  "id",
  "name",
  "token_prefix",
  "last_four",
  "created_at",
  "last_used_at"
from
  "api_keys"
where
  (
    "api_keys"."user_id" = $1
    and "api_keys"."revoked_at" is null
  )
order by
  "api_keys"."created_at" desc,
  "api_keys"."id" desc;

-- api_keys_select_owners
select
  "api_keys"."id",
  "api_keys"."secret_hash",
  "users"."id",
  "users"."name",
  "users"."email",
  "users"."email_verified_at",
  "users"."image_key"
from
  "api_keys"
  inner join "users" on "users"."id" = "api_keys"."user_id"
where
  (
    "api_keys"."secret_hash" = any (
      (
        select
          $1::bytea[]
      )::bytea[]
    )
    and "api_keys"."revoked_at" is null
  );

-- api_keys_select_owners_by_seed
select
  asked.place::int,
  "api_keys"."id",
  "api_keys"."secret_hash",
  "users"."id",
  "users"."name",
  "users"."email",
  "users"."email_verified_at",
  "users"."image_key",
  "workspaces"."id",
  "workspaces"."name",
  "workspaces"."slug",
  "workspaces"."icon_key",
  "workspaces"."allowed_domains",
  (
    select
      "memberships"."role"
    from
      "memberships"
    where
      "memberships"."workspace_id" = "workspaces"."id"
      and "memberships"."user_id" = "api_keys"."user_id"
  ) as "caller_role",
  (
    select
      "memberships"."last_used_at" > $1
      and not exists (
        select
        from
          "memberships" as other
        where
          other.user_id = "memberships"."user_id"
          and other.workspace_id <> "memberships"."workspace_id"
          and other.last_used_at >= "memberships"."last_used_at"
      )
    from
      "memberships"
    where
      "memberships"."workspace_id" = "workspaces"."id"
      and "memberships"."user_id" = "api_keys"."user_id"
  ) as "is_use_recorded"
from
  unnest(
    (
      select
        $2::bytea[]
    )::bytea[],
    (
      select
        $3::uuid[]
    )::uuid[]
  ) with ordinality as asked (secret_hash, key, place)
  inner join "api_keys" on (
    "api_keys"."secret_hash" = asked.secret_hash
    and "api_keys"."revoked_at" is null
  )
  inner join "users" on "users"."id" = "api_keys"."user_id"
  left join "seeds" on "seeds"."id" = asked.key
  left join "workspaces" on "workspaces"."id" = "seeds"."workspace_id";

-- api_keys_select_owners_by_slug
select
  asked.place::int,
  "api_keys"."id",
  "api_keys"."secret_hash",
  "users"."id",
  "users"."name",
  "users"."email",
  "users"."email_verified_at",
  "users"."image_key",
  "workspaces"."id",
  "workspaces"."name",
  "workspaces"."slug",
  "workspaces"."icon_key",
  "workspaces"."allowed_domains",
  (
    select
      "memberships"."role"
    from
      "memberships"
    where
      "memberships"."workspace_id" = "workspaces"."id"
      and "memberships"."user_id" = "api_keys"."user_id"
  ) as "caller_role",
  (
    select
      "memberships"."last_used_at" > $1
      and not exists (
        select
        from
          "memberships" as other
        where
          other.user_id = "memberships"."user_id"
          and other.workspace_id <> "memberships"."workspace_id"
          and other.last_used_at >= "memberships"."last_used_at"
      )
    from
      "memberships"
    where
      "memberships"."workspace_id" = "workspaces"."id"
      and "memberships"."user_id" = "api_keys"."user_id"
  ) as "is_use_recorded"
from
  unnest(
    (
      select
        $2::bytea[]
    )::bytea[],
    (
      select
        $3::text[]
    )::text[]
  ) with ordinality as asked (secret_hash, key, place)
  inner join "api_keys" on (
    "api_keys"."secret_hash" = asked.secret_hash
    and "api_keys"."revoked_at" is null
  )
  inner join "users" on "users"."id" = "api_keys"."user_id"
  left join "workspace_slugs" on (
    "workspace_slugs"."slug" = asked.key
    and (
      "workspace_slugs"."kept_until" is null
      or "workspace_slugs"."kept_until" > $4
    )
  )
  left join "workspaces" on "workspaces"."id" = "workspace_slugs"."workspace_id";

-- departures_delete_of_address
delete from "departures"
where
  (
    "departures"."workspace_id" = $1
    and "departures"."user_id" = (
      select
        "id"
      from
        "users"
      where
        "users"."canonical_email" = $2
    )
  );

-- departures_delete_of_user
delete from "departures"
where
  (
    "departures"."workspace_id" = $1
    and "departures"."user_id" = $2
  );

-- events_count_invites
select
  count(*),
  min("created_at")
from
  "events"
where
  (
    "events"."workspace_id" = (
      select
        $1::uuid
    )
    and "events"."type" in ('invite.created', 'invite.resent')
    and "events"."created_at" >= (
      select
        $2::timestamptz
    )
  );

-- events_count_invites_to_recipient
select
  count(*),
  min("events"."created_at")
from
  "invites"
  inner join "events" on (
    "events"."workspace_id" = "invites"."workspace_id"
    and "events"."target_id" = "invites"."id"
  )
where
  (
    "invites"."search_text" = lower($1)
    and "events"."type" in ('invite.created', 'invite.resent')
    and "events"."created_at" >= (
      select
        $2::timestamptz
    )
  );

-- events_insert
insert into
  "events" (
    "id",
    "workspace_id",
    "type",
    "actor_type",
    "actor_user_id",
    "actor_name",
    "grant_id",
    "api_key_id",
    "source",
    "target_type",
    "target_id",
    "summary",
    "created_at"
  )
values
  ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13);

-- events_select_digests
select
  asked.workspace_id,
  (
    select
      coalesce(encode(sha256(string_agg(newest.id::text, ',')::bytea), 'base64'), '')
    from
      (
        select
          "events"."id"
        from
          "events"
        where
          "events"."workspace_id" = asked.workspace_id
        order by
          "events"."created_at" desc,
          "events"."id" desc
        limit
          50
      ) as newest
  )
from
  unnest(
    (
      select
        $1::uuid[]
    )::uuid[]
  ) as asked (workspace_id);

-- events_select_ended_watches
select
  asked.place::int - 1
from
  unnest(
    (
      select
        $1::uuid[]
    )::uuid[],
    (
      select
        $2::uuid[]
    )::uuid[],
    (
      select
        $3::uuid[]
    )::uuid[]
  ) with ordinality as asked (session_id, user_id, workspace_id, place)
where
  not exists (
    select
    from
      "sessions"
    where
      "sessions"."id" = asked.session_id
      and "sessions"."expires_at" > now()
  )
  or not exists (
    select
    from
      "memberships"
    where
      "memberships"."workspace_id" = asked.workspace_id
      and "memberships"."user_id" = asked.user_id
  );

-- events_select_with_invites_of_all_grants
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "type" as "type",
      "actor_type" as "actorType",
      "actor_user_id" as "actorUserId",
      "actor_name" as "actorName",
      "grant_id" as "grantId",
      "api_key_id" as "apiKeyId",
      "source" as "source",
      "target_type" as "targetType",
      "target_id" as "targetId",
      "summary" as "summary",
      to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
    from
      "events"
    where
      (
        "events"."workspace_id" = $1
        and ("events"."created_at", "events"."id") < (
          (
            select
              $2::timestamptz
          ),
          (
            select
              $3::uuid
          )
        )
      )
    order by
      "events"."created_at" desc,
      "events"."id" desc
    limit
      (
        select
          $4::int
      )
  ) "rows";

-- events_select_with_invites_of_own_grants
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    (
      select
        "id" as "id",
        "type" as "type",
        "actor_type" as "actorType",
        "actor_user_id" as "actorUserId",
        "actor_name" as "actorName",
        "grant_id" as "grantId",
        "api_key_id" as "apiKeyId",
        "source" as "source",
        "target_type" as "targetType",
        "target_id" as "targetId",
        "summary" as "summary",
        to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
      from
        "events"
      where
        (
          "events"."workspace_id" = $1
          and ("events"."created_at", "events"."id") < (
            (
              select
                $2::timestamptz
            ),
            (
              select
                $3::uuid
            )
          )
          and "events"."type" not in ('integration.granted', 'integration.changed', 'integration.used', 'integration.revoked')
        )
      order by
        "events"."created_at" desc,
        "events"."id" desc
      limit
        (
          select
            $4::int
        )
    )
    union all
    (
      select
        "id" as "id",
        "type" as "type",
        "actor_type" as "actorType",
        "actor_user_id" as "actorUserId",
        "actor_name" as "actorName",
        "grant_id" as "grantId",
        "api_key_id" as "apiKeyId",
        "source" as "source",
        "target_type" as "targetType",
        "target_id" as "targetId",
        "summary" as "summary",
        to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
      from
        "events"
      where
        (
          "events"."workspace_id" = $5
          and ("events"."created_at", "events"."id") < (
            (
              select
                $6::timestamptz
            ),
            (
              select
                $7::uuid
            )
          )
          and "events"."type" in ('integration.granted', 'integration.changed', 'integration.used', 'integration.revoked')
          and "events"."target_id" in (
            select
              "agent_grants"."id"
            from
              "agent_grants"
            where
              "agent_grants"."workspace_id" = $8
              and "agent_grants"."user_id" = $9
          )
        )
      order by
        "events"."created_at" desc,
        "events"."id" desc
      limit
        (
          select
            $10::int
        )
    )
    order by
      "createdAt" desc,
      "id" desc
    limit
      (
        select
          $11::int
      )
  ) "rows";

-- events_select_without_invites_of_all_grants
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "type" as "type",
      "actor_type" as "actorType",
      "actor_user_id" as "actorUserId",
      "actor_name" as "actorName",
      "grant_id" as "grantId",
      "api_key_id" as "apiKeyId",
      "source" as "source",
      "target_type" as "targetType",
      "target_id" as "targetId",
      "summary" as "summary",
      to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
    from
      "events"
    where
      (
        "events"."workspace_id" = $1
        and ("events"."created_at", "events"."id") < (
          (
            select
              $2::timestamptz
          ),
          (
            select
              $3::uuid
          )
        )
        and "events"."type" not in ('invite.created', 'invite.resent', 'invite.revoked', 'invite.role_changed')
      )
    order by
      "events"."created_at" desc,
      "events"."id" desc
    limit
      (
        select
          $4::int
      )
  ) "rows";

-- events_select_without_invites_of_own_grants
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    (
      select
        "id" as "id",
        "type" as "type",
        "actor_type" as "actorType",
        "actor_user_id" as "actorUserId",
        "actor_name" as "actorName",
        "grant_id" as "grantId",
        "api_key_id" as "apiKeyId",
        "source" as "source",
        "target_type" as "targetType",
        "target_id" as "targetId",
        "summary" as "summary",
        to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
      from
        "events"
      where
        (
          "events"."workspace_id" = $1
          and ("events"."created_at", "events"."id") < (
            (
              select
                $2::timestamptz
            ),
            (
              select
                $3::uuid
            )
          )
          and "events"."type" not in (
            'invite.created',
            'invite.resent',
            'invite.revoked',
            'invite.role_changed',
            'integration.granted',
            'integration.changed',
            'integration.used',
            'integration.revoked'
          )
        )
      order by
        "events"."created_at" desc,
        "events"."id" desc
      limit
        (
          select
            $4::int
        )
    )
    union all
    (
      select
        "id" as "id",
        "type" as "type",
        "actor_type" as "actorType",
        "actor_user_id" as "actorUserId",
        "actor_name" as "actorName",
        "grant_id" as "grantId",
        "api_key_id" as "apiKeyId",
        "source" as "source",
        "target_type" as "targetType",
        "target_id" as "targetId",
        "summary" as "summary",
        to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
      from
        "events"
      where
        (
          "events"."workspace_id" = $5
          and ("events"."created_at", "events"."id") < (
            (
              select
                $6::timestamptz
            ),
            (
              select
                $7::uuid
            )
          )
          and "events"."type" in ('integration.granted', 'integration.changed', 'integration.used', 'integration.revoked')
          and "events"."target_id" in (
            select
              "agent_grants"."id"
            from
              "agent_grants"
            where
              "agent_grants"."workspace_id" = $8
              and "agent_grants"."user_id" = $9
          )
        )
      order by
        "events"."created_at" desc,
        "events"."id" desc
      limit
        (
          select
            $10::int
        )
    )
    order by
      "createdAt" desc,
      "id" desc
    limit
      (
        select
          $11::int
      )
  ) "rows";

-- evidence_count_by_day
select
  to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD') as "day",
  "verdict",
  count(*)::int
from
  "evidence"
where
  "evidence"."seed_id" = $1
group by
  day,
  "evidence"."verdict"
order by
  day;

-- evidence_insert
insert into
  "evidence" (
    "id",
    "seed_id",
    "kind",
    "verdict",
    "summary",
    "source_url",
    "author_user_id",
    "author_name",
    "agent_name",
    "created_at"
  )
values
  ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- evidence_select_of_seed
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "evidence"."id" as "id",
      "evidence"."seed_id" as "seedId",
      "evidence"."kind" as "kind",
      "evidence"."verdict" as "verdict",
      "evidence"."summary" as "summary",
      "evidence"."source_url" as "sourceUrl",
      "evidence"."author_user_id" as "authorUserId",
      "evidence"."author_name" as "authorName",
      "evidence"."agent_name" as "agentName",
      to_char("evidence"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
    from
      (
        select
          "id",
          sum("row_size") over (
            order by
              "page"."created_at" desc,
              "page"."id" desc rows unbounded preceding
          ) - ("row_size") as "bytes_before"
        from
          (
            select
              "id",
              "created_at",
              coalesce(octet_length("evidence"."summary"), 0) + coalesce(octet_length("evidence"."source_url"), 0) as "row_size"
            from
              "evidence"
            where
              (
                "evidence"."seed_id" = $1
                and ("evidence"."created_at", "evidence"."id") < (
                  (
                    select
                      $2::timestamptz
                  ),
                  (
                    select
                      $3::uuid
                  )
                )
              )
            order by
              "evidence"."created_at" desc,
              "evidence"."id" desc
            limit
              (
                select
                  $4::int
              )
          ) "page"
      ) "placed"
      inner join "evidence" on "evidence"."id" = "placed"."id"
    where
      "bytes_before" < $5
    order by
      "evidence"."created_at" desc,
      "evidence"."id" desc
  ) "rows";

-- invite_tokens_insert
insert into
  "invite_tokens" ("token_hash", "invite_id", "is_mailed")
values
  ($1, $2, $3);

-- invites_accept
update "invites"
set
  "state" = $1
where
  "invites"."id" = $2;

-- invites_insert
insert into
  "invites" (
    "id",
    "workspace_id",
    "email",
    "canonical_email",
    "role",
    "state",
    "invited_by_user_id",
    "created_at",
    "expires_at",
    "last_sent_at"
  )
values
  ($1, $2, $3, $4, $5, $6, $7, $8, $9, default);

-- invites_lock_recipient
select
  pg_advisory_xact_lock(hashtextextended ('invites ' || lower($1), 0))
from
  (
    values
      (0)
  ) as recipient;

-- invites_replace_expired
update "invites"
set
  "state" = $1
where
  (
    "invites"."workspace_id" = $2
    and "invites"."canonical_email" = $3
    and "invites"."state" = 'open'
    and "invites"."expires_at" <= $4
  );

-- invites_select_by_token
select
  "invites"."id",
  "invites"."workspace_id",
  "workspaces"."name",
  "workspaces"."slug",
  "workspaces"."icon_key",
  "invites"."email",
  "invites"."role",
  "invites"."state",
  "invites"."invited_by_user_id",
  "users"."name",
  "invites"."expires_at",
  "invite_tokens"."is_mailed"
from
  "invite_tokens"
  inner join "invites" on "invites"."id" = "invite_tokens"."invite_id"
  inner join "workspaces" on "workspaces"."id" = "invites"."workspace_id"
  inner join "users" on "users"."id" = "invites"."invited_by_user_id"
where
  "invite_tokens"."token_hash" = $1;

-- invites_select_of_person
select
  "invites"."id",
  "invites"."workspace_id",
  "workspaces"."name",
  "workspaces"."slug",
  "workspaces"."icon_key",
  "invites"."email",
  "invites"."role",
  "invites"."state",
  "invites"."invited_by_user_id",
  "users"."name",
  "invites"."expires_at",
  "inviters"."role"
from
  "invites"
  inner join "workspaces" on "workspaces"."id" = "invites"."workspace_id"
  inner join "users" on "users"."id" = "invites"."invited_by_user_id"
  inner join "memberships" "inviters" on (
    "inviters"."workspace_id" = "invites"."workspace_id"
    and "inviters"."user_id" = "invites"."invited_by_user_id"
  )
  left join "memberships" on (
    "memberships"."workspace_id" = "invites"."workspace_id"
    and "memberships"."user_id" = $1
  )
where
  (
    "invites"."canonical_email" = $2
    and "invites"."state" = 'open'
    and "invites"."expires_at" > $3
    and "memberships"."user_id" is null
  )
order by
  "invites"."created_at" desc,
  "invites"."id" desc
limit
  (
    select
      $4::int
  );

-- invites_select_open
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "invites"."id" as "id",
      "invites"."email" as "email",
      "invites"."role" as "role",
      case
        when "invites"."expires_at" <= $1 then 'expired'
        else 'pending'
      end as "status",
      "invites"."invited_by_user_id" as "invitedByUserId",
      "users"."name" as "invitedByName",
      to_char("invites"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("invites"."expires_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "expiresAt",
      to_char("invites"."last_sent_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastSentAt"
    from
      "invites"
      inner join "users" on "users"."id" = "invites"."invited_by_user_id"
    where
      (
        "invites"."workspace_id" = $2
        and "invites"."state" = 'open'
        and ("invites"."created_at", "invites"."id") > (
          (
            select
              $3::timestamptz
          ),
          (
            select
              $4::uuid
          )
        )
      )
    order by
      "invites"."created_at" asc,
      "invites"."id" asc
    limit
      (
        select
          $5::int
      )
  ) "rows";

-- invites_select_to_address
select
  "invites"."id",
  "invites"."workspace_id",
  "workspaces"."name",
  "workspaces"."slug",
  "workspaces"."icon_key",
  "invites"."email",
  "invites"."role",
  "invites"."state",
  "invites"."invited_by_user_id",
  "users"."name",
  "invites"."expires_at"
from
  "invites"
  inner join "workspaces" on "workspaces"."id" = "invites"."workspace_id"
  inner join "users" on "users"."id" = "invites"."invited_by_user_id"
where
  (
    "invites"."id" = $1
    and "invites"."canonical_email" = $2
  );

-- invites_select_to_send
select
  "invites"."email",
  "invites"."role",
  "workspaces"."name",
  "users"."name",
  "invites"."expires_at"
from
  "invites"
  inner join "workspaces" on "workspaces"."id" = "invites"."workspace_id"
  inner join "users" on "users"."id" = "invites"."invited_by_user_id"
where
  (
    "invites"."id" = $1
    and "invites"."state" = 'open'
    and "invites"."expires_at" > $2
  );

-- invites_update_sent
update "invites"
set
  "last_sent_at" = $1::timestamptz
where
  "invites"."id" = $2;

-- jobs_add
select
  id
from
  graphile_worker.add_job (
    $1::text,
    $2::json,
    run_at => now() + make_interval(secs => $3),
    max_attempts => $4,
    job_key => $5,
    job_key_mode => 'preserve_run_at'
  );

-- memberships_count_of_user
select
  count(*)
from
  "memberships"
where
  "memberships"."user_id" = $1;

-- memberships_insert_if_new
insert into
  "memberships" ("workspace_id", "user_id", "role", "joined_at", "last_used_at")
values
  ($1, $2, $3, $4, $5)
on conflict do nothing;

-- memberships_select
select
  "memberships"."role",
  "users"."name"
from
  "memberships"
  inner join "users" on "users"."id" = "memberships"."user_id"
where
  (
    "memberships"."workspace_id" = $1
    and "memberships"."user_id" = $2
  );

-- memberships_select_of_user
select
  "workspaces"."id",
  "workspaces"."name",
  "workspaces"."slug",
  "workspaces"."icon_key",
  "memberships"."role"
from
  "memberships"
  inner join "workspaces" on "workspaces"."id" = "memberships"."workspace_id"
where
  "memberships"."user_id" = $1
order by
  "memberships"."last_used_at" desc,
  "memberships"."joined_at" desc,
  "memberships"."workspace_id" desc
limit
  (
    select
      $2::int
  );

-- memberships_select_of_users
select
  "text",
  "count"
from
  unnest(
    (
      select
        $1::uuid[]
    )::uuid[]
  ) with ordinality as asked (user_id, place)
  cross join lateral (
    select
      coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
      count(*)::int as "count"
    from
      (
        select
          "workspaces"."id" as "id",
          "workspaces"."name" as "name",
          "workspaces"."slug" as "slug",
          $2::text || "workspaces"."icon_key" as "iconUrl",
          "memberships"."role" as "role"
        from
          "memberships"
          inner join "workspaces" on "workspaces"."id" = "memberships"."workspace_id"
        where
          "memberships"."user_id" = asked.user_id
        order by
          "memberships"."last_used_at" desc,
          "memberships"."joined_at" desc,
          "memberships"."workspace_id" desc
        limit
          (
            select
              $3::int
          )
      ) "rows"
  ) "list"
order by
  asked.place;

-- memberships_select_of_workspace
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "memberships"."user_id" as "userId",
      "users"."name" as "name",
      "users"."email" as "email",
      $1::text || "users"."image_key" as "image",
      "memberships"."role" as "role",
      to_char("memberships"."joined_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "joinedAt"
    from
      "memberships"
      inner join "users" on "users"."id" = "memberships"."user_id"
    where
      (
        "memberships"."workspace_id" = (
          select
            $2::uuid
        )
        and ("memberships"."joined_at", "memberships"."user_id") > (
          (
            select
              $3::timestamptz
          ),
          (
            select
              $4::uuid
          )
        )
      )
    order by
      "memberships"."joined_at" asc,
      "memberships"."user_id" asc
    limit
      (
        select
          $5::int
      )
  ) "rows";

-- memberships_select_with_address
select
  "memberships"."user_id"
from
  "memberships"
  inner join "users" on "users"."id" = "memberships"."user_id"
where
  (
    "memberships"."workspace_id" = $1
    and "users"."canonical_email" = $2
  );

-- oauth_records_exchange_refresh_tokens
with
  "locked" as (
    select
      "kind",
      "key",
      "grant_id",
      "client_id",
      "origin",
      "payload",
      "created_at",
      "consumed_at",
      "expires_at",
      "uses",
      "granted_at",
      "generation",
      "sealed_successor"
    from
      "oauth_records"
    where
      (
        "oauth_records"."kind" = $1
        and "oauth_records"."key" = any ($2)
        and (
          "oauth_records"."consumed_at" is null
          or "oauth_records"."consumed_at" > $3
        )
      )
    order by
      "oauth_records"."key"
    for update
  ),
  "first" as (
    select
      locked.kind,
      locked.key,
      locked.grant_id,
      locked.client_id,
      locked.origin,
      next.key as next_key,
      next.payload,
      next.expires_at,
      next.generation,
      decode(next.sealed, 'base64') as sealed,
      (
        select
          max(earlier.created_at)
        from
          oauth_records as earlier
        where
          earlier.kind = locked.kind
          and earlier.grant_id = locked.grant_id
          and earlier.generation = next.generation - $4::int
          and earlier.generation > 0
          and earlier.created_at > $5
      ) as began_at
    from
      locked
      join jsonb_to_recordset($6::jsonb) as next (used_key text, key text, payload jsonb, expires_at timestamptz, generation int, sealed text) on next.used_key = locked.key
    where
      locked.sealed_successor is null
  ),
  "used" as (
    update oauth_records
    set
      consumed_at = coalesce(oauth_records.consumed_at, $7),
      sealed_successor = first.sealed
    from
      first
    where
      oauth_records.kind = first.kind
      and oauth_records.key = first.key
      and first.began_at is null
  ),
  "inserted" as (
    insert into
      oauth_records (kind, key, grant_id, client_id, origin, payload, created_at, expires_at, generation)
    select
      kind,
      next_key,
      grant_id,
      client_id,
      origin,
      payload,
      $8::timestamptz,
      expires_at,
      generation
    from
      first
    where
      began_at is null
  ),
  "forgotten" as (
    delete from oauth_records using first
    where
      oauth_records.kind = first.kind
      and oauth_records.grant_id = first.grant_id
      and oauth_records.generation < first.generation - $9
      and first.began_at is null
  )
select
  "locked"."key",
  coalesce("locked"."sealed_successor", first.sealed),
  first.began_at
from
  "locked"
  left join "first" on first.key = "locked"."key";

-- oauth_records_select_refreshes
select
  "tokens"."key",
  "tokens"."payload",
  "tokens"."consumed_at",
  "tokens"."sealed_successor",
  "tokens"."client_id",
  "clients"."payload",
  "tokens"."grant_id",
  "grants"."payload",
  "agent_grants"."scopes"
from
  "oauth_records" "tokens"
  left join "oauth_records" "clients" on (
    "clients"."kind" = $1
    and "clients"."key" = "tokens"."client_id"
    and (
      "clients"."expires_at" is null
      or "clients"."expires_at" > $2
    )
  )
  left join "agent_grants" on (
    "agent_grants"."id" = "tokens"."grant_id"::uuid
    and "agent_grants"."revoked_at" is null
    and "agent_grants"."expires_at" > $3
  )
  left join "oauth_records" "grants" on (
    "grants"."kind" = $4
    and "grants"."key" = "tokens"."grant_id"
    and (
      "grants"."expires_at" is null
      or "grants"."expires_at" > $5
    )
    and "agent_grants"."id" is not null
  )
where
  (
    "tokens"."kind" = $6
    and "tokens"."key" = any ($7)
    and (
      "tokens"."expires_at" is null
      or "tokens"."expires_at" > $8
    )
  );

-- people_select_invited
select
  coalesce(string_agg("item"::text, E',\n'), '') as "text",
  count(*)::int as "count",
  coalesce(
    string_agg(
      (
        (
          extract(
            epoch
            from
              "created_at"
          ) * 1000
        )::bigint
      )::text,
      ','
    ),
    ''
  )
from
  (
    select
      (
        select
          row_to_json(item)
        from
          (
            select
              "invites"."id" as "id",
              'invited' as "kind",
              null as "userId",
              "invites"."email" as "name",
              "invites"."email" as "email",
              null as "image",
              "invites"."role" as "role",
              '[]'::json as "teams"
          ) as item
      ) as "item",
      "created_at"
    from
      "invites"
    where
      (
        "invites"."workspace_id" = $1
        and "invites"."state" = 'open'
        and "invites"."expires_at" > $2
        and ("invites"."created_at", "invites"."id") > (
          (
            select
              $3::timestamptz
          ),
          (
            select
              $4::uuid
          )
        )
      )
    order by
      "invites"."created_at" asc,
      "invites"."id" asc
    limit
      (
        select
          $5::int
      )
  ) "rows";

-- people_select_member
select
  "memberships"."user_id",
  "users"."name",
  "users"."email",
  $1::text || "users"."image_key",
  "memberships"."role",
  (
    select
      coalesce(
        json_agg(
          json_build_object('id', "teams"."id", 'name', "teams"."name")
          order by
            "teams"."created_at",
            "teams"."id"
        ),
        '[]'
      )
    from
      "team_members"
      join "teams" on "teams"."id" = "team_members"."team_id"
    where
      "team_members"."workspace_id" = "memberships"."workspace_id"
      and "team_members"."user_id" = "memberships"."user_id"
  ),
  "memberships"."joined_at"
from
  "memberships"
  inner join "users" on "users"."id" = "memberships"."user_id"
where
  (
    "memberships"."workspace_id" = $2
    and "memberships"."user_id" = $3
  );

-- people_select_members
select
  coalesce(string_agg("item"::text, E',\n'), '') as "text",
  count(*)::int as "count",
  coalesce(
    string_agg(
      (
        (
          extract(
            epoch
            from
              "joined_at"
          ) * 1000
        )::bigint
      )::text,
      ','
    ),
    ''
  )
from
  (
    select
      (
        select
          row_to_json(item)
        from
          (
            select
              "placed"."id" as "id",
              'member' as "kind",
              "placed"."id" as "userId",
              "placed"."name" as "name",
              "placed"."email" as "email",
              $1::text || "placed"."image_key" as "image",
              "placed"."role" as "role",
              "teams_of_member" as "teams"
          ) as item
      ) as "item",
      "joined_at"
    from
      (
        select
          "id",
          "name",
          "email",
          "image_key",
          "role",
          "teams_of_member",
          "joined_at",
          sum(octet_length("teams_of_member"::text)) over (
            order by
              "page"."joined_at",
              "page"."id" rows unbounded preceding
          ) - (octet_length("teams_of_member"::text)) as "teams_before"
        from
          (
            select
              "users"."id",
              "users"."name",
              "users"."email",
              "users"."image_key",
              "memberships"."role",
              (
                select
                  coalesce(
                    json_agg(
                      json_build_object('id', "teams"."id", 'name', "teams"."name")
                      order by
                        "teams"."created_at",
                        "teams"."id"
                    ),
                    '[]'
                  )
                from
                  "team_members"
                  join "teams" on "teams"."id" = "team_members"."team_id"
                where
                  "team_members"."workspace_id" = "memberships"."workspace_id"
                  and "team_members"."user_id" = "memberships"."user_id"
              ) as "teams_of_member",
              "memberships"."joined_at"
            from
              "memberships"
              inner join "users" on "users"."id" = "memberships"."user_id"
            where
              (
                "memberships"."workspace_id" = (
                  select
                    $2::uuid
                )
                and ("memberships"."joined_at", "memberships"."user_id") > (
                  (
                    select
                      $3::timestamptz
                  ),
                  (
                    select
                      $4::uuid
                  )
                )
              )
            order by
              "memberships"."joined_at" asc,
              "memberships"."user_id" asc
            limit
              (
                select
                  $5::int
              )
          ) "page"
      ) "placed"
    where
      "teams_before" < $6
    order by
      "placed"."joined_at" asc,
      "placed"."id" asc
  ) "rows";

-- seed_participants_lock
select
  "user_id"
from
  "seed_participants"
where
  (
    "seed_participants"."seed_id" = $1
    and "seed_participants"."user_id" = $2
  )
for key share;

-- seed_participants_select_of_seed
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "seed_participants"."user_id" as "userId",
      "users"."name" as "name",
      $1::text || "users"."image_key" as "image",
      to_char("seed_participants"."joined_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "joinedAt"
    from
      "seed_participants"
      inner join "users" on "users"."id" = "seed_participants"."user_id"
    where
      (
        "seed_participants"."seed_id" = $2
        and ("seed_participants"."joined_at", "seed_participants"."user_id") > (
          (
            select
              $3::timestamptz
          ),
          (
            select
              $4::uuid
          )
        )
      )
    order by
      "seed_participants"."joined_at" asc,
      "seed_participants"."user_id" asc
    limit
      (
        select
          $5::int
      )
  ) "rows";

-- seeds_insert
insert into
  "seeds" (
    "id",
    "workspace_id",
    "title",
    "summary",
    "problem",
    "audience",
    "hypothesis",
    "success_criteria",
    "status",
    "created_by_user_id",
    "agent_name",
    "created_at",
    "updated_at"
  )
values
  ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13);

-- seeds_lock
select
  "title",
  "summary",
  "problem",
  "audience",
  "hypothesis",
  "success_criteria",
  "status",
  "workspace_id"
from
  "seeds"
where
  "seeds"."id" = $1
for no key update;

-- seeds_lock_shared
select
  "title",
  "summary",
  "problem",
  "audience",
  "hypothesis",
  "success_criteria",
  "status",
  "workspace_id"
from
  "seeds"
where
  "seeds"."id" = $1
for share;

-- seeds_select
select
  "id",
  "title",
  "summary",
  "problem",
  "audience",
  "hypothesis",
  "success_criteria",
  "status",
  "created_by_user_id",
  "agent_name",
  (
    select
      count(*)::int
    from
      "seed_participants"
    where
      "seed_participants"."seed_id" = "seeds"."id"
  ),
  exists (
    select
    from
      "seed_participants"
    where
      (
        "seed_participants"."seed_id" = "seeds"."id"
        and "seed_participants"."user_id" = $1
      )
  ),
  "created_at",
  "updated_at"
from
  "seeds"
where
  "seeds"."id" = $2;

-- seeds_select_changed_by_others
select
  "seeds"."id",
  "seeds"."title",
  "seeds"."status",
  greatest(
    (
      select
        max("events"."created_at")
      from
        "events"
      where
        "events"."workspace_id" = "seeds"."workspace_id"
        and "events"."target_id" = "seeds"."id"
        and "events"."type" in ('seed.created', 'seed.updated')
        and "events"."actor_user_id" is distinct from $1
        and "events"."created_at" > $2
    ),
    (
      select
        max("evidence"."created_at")
      from
        "evidence"
      where
        "evidence"."seed_id" = "seeds"."id"
        and "evidence"."author_user_id" is distinct from $3
        and "evidence"."created_at" > $4
    )
  )
from
  "seed_participants"
  inner join "seeds" on "seeds"."id" = "seed_participants"."seed_id"
where
  (
    "seed_participants"."workspace_id" = $5
    and "seed_participants"."user_id" = $6
    and "seeds"."updated_at" > $7
    and greatest(
      (
        select
          max("events"."created_at")
        from
          "events"
        where
          "events"."workspace_id" = "seeds"."workspace_id"
          and "events"."target_id" = "seeds"."id"
          and "events"."type" in ('seed.created', 'seed.updated')
          and "events"."actor_user_id" is distinct from $8
          and "events"."created_at" > $9
      ),
      (
        select
          max("evidence"."created_at")
        from
          "evidence"
        where
          "evidence"."seed_id" = "seeds"."id"
          and "evidence"."author_user_id" is distinct from $10
          and "evidence"."created_at" > $11
      )
    ) is not null
  )
order by
  greatest(
    (
      select
        max("events"."created_at")
      from
        "events"
      where
        "events"."workspace_id" = "seeds"."workspace_id"
        and "events"."target_id" = "seeds"."id"
        and "events"."type" in ('seed.created', 'seed.updated')
        and "events"."actor_user_id" is distinct from $12
        and "events"."created_at" > $13
    ),
    (
      select
        max("evidence"."created_at")
      from
        "evidence"
      where
        "evidence"."seed_id" = "seeds"."id"
        and "evidence"."author_user_id" is distinct from $14
        and "evidence"."created_at" > $15
    )
  ) desc,
  "seeds"."id" desc
limit
  $16;

-- seeds_select_changed_of_status
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "seeds"."id" as "id",
      "seeds"."title" as "title",
      "seeds"."summary" as "summary",
      "seeds"."problem" as "problem",
      "seeds"."audience" as "audience",
      "seeds"."hypothesis" as "hypothesis",
      "seeds"."success_criteria" as "successCriteria",
      "seeds"."status" as "status",
      "seeds"."created_by_user_id" as "createdByUserId",
      "seeds"."agent_name" as "agentName",
      (
        select
          count(*)::int
        from
          "seed_participants"
        where
          "seed_participants"."seed_id" = "seeds"."id"
      ) as "participantCount",
      exists (
        select
        from
          "seed_participants"
        where
          (
            "seed_participants"."seed_id" = "seeds"."id"
            and "seed_participants"."user_id" = $1
          )
      ) as "joined",
      to_char("seeds"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
    from
      (
        select
          "id",
          sum("row_size") over (
            order by
              "page"."updated_at" desc,
              "page"."id" desc rows unbounded preceding
          ) - ("row_size") as "bytes_before"
        from
          (
            select
              "id",
              "updated_at",
              coalesce(octet_length("seeds"."title"), 0) + coalesce(octet_length("seeds"."summary"), 0) + coalesce(octet_length("seeds"."problem"), 0) + coalesce(octet_length("seeds"."audience"), 0) + coalesce(octet_length("seeds"."hypothesis"), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) as "row_size"
            from
              "seeds"
            where
              (
                (
                  "seeds"."workspace_id" = $2
                  and "seeds"."status" = (
                    select
                      $3::text
                  )
                )
                and ("seeds"."updated_at", "seeds"."id") < (
                  (
                    select
                      $4::timestamptz
                  ),
                  (
                    select
                      $5::uuid
                  )
                )
              )
            order by
              "seeds"."updated_at" desc,
              "seeds"."id" desc
            limit
              (
                select
                  $6::int
              )
          ) "page"
      ) "placed"
      inner join "seeds" on "seeds"."id" = "placed"."id"
    where
      "bytes_before" < $7
    order by
      "seeds"."updated_at" desc,
      "seeds"."id" desc
  ) "rows";

-- seeds_select_changed_of_workspace
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "seeds"."id" as "id",
      "seeds"."title" as "title",
      "seeds"."summary" as "summary",
      "seeds"."problem" as "problem",
      "seeds"."audience" as "audience",
      "seeds"."hypothesis" as "hypothesis",
      "seeds"."success_criteria" as "successCriteria",
      "seeds"."status" as "status",
      "seeds"."created_by_user_id" as "createdByUserId",
      "seeds"."agent_name" as "agentName",
      (
        select
          count(*)::int
        from
          "seed_participants"
        where
          "seed_participants"."seed_id" = "seeds"."id"
      ) as "participantCount",
      exists (
        select
        from
          "seed_participants"
        where
          (
            "seed_participants"."seed_id" = "seeds"."id"
            and "seed_participants"."user_id" = $1
          )
      ) as "joined",
      to_char("seeds"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
    from
      (
        select
          "id",
          sum("row_size") over (
            order by
              "page"."updated_at" desc,
              "page"."id" desc rows unbounded preceding
          ) - ("row_size") as "bytes_before"
        from
          (
            select
              "id",
              "updated_at",
              coalesce(octet_length("seeds"."title"), 0) + coalesce(octet_length("seeds"."summary"), 0) + coalesce(octet_length("seeds"."problem"), 0) + coalesce(octet_length("seeds"."audience"), 0) + coalesce(octet_length("seeds"."hypothesis"), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) as "row_size"
            from
              "seeds"
            where
              (
                "seeds"."workspace_id" = $2
                and ("seeds"."updated_at", "seeds"."id") < (
                  (
                    select
                      $3::timestamptz
                  ),
                  (
                    select
                      $4::uuid
                  )
                )
              )
            order by
              "seeds"."updated_at" desc,
              "seeds"."id" desc
            limit
              (
                select
                  $5::int
              )
          ) "page"
      ) "placed"
      inner join "seeds" on "seeds"."id" = "placed"."id"
    where
      "bytes_before" < $6
    order by
      "seeds"."updated_at" desc,
      "seeds"."id" desc
  ) "rows";

-- seeds_select_details
select
  "seeds"."id",
  "seeds"."title",
  "seeds"."summary",
  "seeds"."problem",
  "seeds"."audience",
  "seeds"."hypothesis",
  "seeds"."success_criteria",
  "seeds"."status",
  "seeds"."created_by_user_id",
  "seeds"."agent_name",
  (
    select
      count(*)::int
    from
      "seed_participants"
    where
      "seed_participants"."seed_id" = "seeds"."id"
  ),
  exists (
    select
    from
      "seed_participants"
    where
      (
        "seed_participants"."seed_id" = "seeds"."id"
        and "seed_participants"."user_id" = $1
      )
  ),
  "seeds"."created_at",
  "seeds"."updated_at",
  "users"."name"
from
  "seeds"
  left join "users" on "users"."id" = "seeds"."created_by_user_id"
where
  (
    "seeds"."id" = $2
    and "seeds"."workspace_id" = $3
  );

-- seeds_select_kit
with
  "found" as (
    select
      "id",
      row_number() over (
        order by
          "recent"."updated_at" desc,
          "recent"."id" desc
      ) as "seed_place",
      sum("seed_size") over (
        order by
          "recent"."updated_at" desc,
          "recent"."id" desc rows unbounded preceding
      ) - ("seed_size") as "seeds_before"
    from
      (
        select
          "id",
          "updated_at",
          coalesce(octet_length("seeds"."title"), 0) + coalesce(octet_length("seeds"."summary"), 0) + coalesce(octet_length("seeds"."problem"), 0) + coalesce(octet_length("seeds"."audience"), 0) + coalesce(octet_length("seeds"."hypothesis"), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) as "seed_size"
        from
          "seeds"
        where
          (
            (
              "seeds"."workspace_id" = $1
              and "seeds"."updated_at" >= $2::timestamptz
              and (
                $3::text is null
                or "seeds"."status" = $4
              )
              and (
                $5::text is null
                or (
                  lower("seeds"."title") like lower($6::text)
                  or lower("seeds"."summary") like lower($7::text)
                  or lower("seeds"."problem") like lower($8::text)
                )
              )
            )
            and ("seeds"."updated_at", "seeds"."id") < (
              (
                select
                  $9::timestamptz
              ),
              (
                select
                  $10::uuid
              )
            )
          )
        order by
          "seeds"."updated_at" desc,
          "seeds"."id" desc
        limit
          $11
      ) "recent"
  ),
  "latest" as (
    select
      "seeds"."id",
      "seeds"."workspace_id",
      "seeds"."title",
      "seeds"."summary",
      "seeds"."problem",
      "seeds"."audience",
      "seeds"."hypothesis",
      "seeds"."success_criteria",
      "seeds"."status",
      "seeds"."created_by_user_id",
      "seeds"."agent_name",
      "seeds"."created_at",
      "seeds"."updated_at",
      "seed_place"
    from
      "found"
      inner join "seeds" on "seeds"."id" = "found"."id"
    where
      (
        "seed_place" <= $12
        and "seeds_before" < $13
      )
  ),
  "shown" as (
    select
      "seed_id",
      count(*) filter (
        where
          (
            "round" <= $14::int
            and "evidence_before" < $15
          )
      ) as "shown_count",
      not bool_and(
        (
          "round" <= $16::int
          and "evidence_before" < $17
        )
      ) as "is_cut",
      json_agg(
        (
          select
            item
          from
            (
              select
                "pieces"."id" as "id",
                "pieces"."seed_id" as "seedId",
                "pieces"."kind" as "kind",
                "pieces"."verdict" as "verdict",
                "pieces"."summary" as "summary",
                "pieces"."source_url" as "sourceUrl",
                "pieces"."author_user_id" as "authorUserId",
                "pieces"."author_name" as "authorName",
                "pieces"."agent_name" as "agentName",
                to_char("pieces"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
            ) as item
        )
        order by
          "round"
      ) filter (
        where
          (
            "round" <= $18::int
            and "evidence_before" < $19
          )
      ) as "shown_evidence"
    from
      (
        select
          "newest"."id",
          "newest"."seed_id",
          "newest"."kind",
          "newest"."verdict",
          "newest"."summary",
          "newest"."source_url",
          "newest"."author_user_id",
          "newest"."author_name",
          "newest"."agent_name",
          "newest"."created_at",
          "round",
          sum("evidence_size") over (
            order by
              "round",
              "seed_place" rows unbounded preceding
          ) - ("evidence_size") as "evidence_before"
        from
          "latest"
          cross join lateral (
            select
              "id",
              "seed_id",
              "kind",
              "verdict",
              "summary",
              "source_url",
              "author_user_id",
              "author_name",
              "agent_name",
              "created_at",
              row_number() over (
                order by
                  "created_at" desc,
                  "id" desc
              ) as "round",
              coalesce(octet_length("evidence"."summary"), 0) + coalesce(octet_length("evidence"."source_url"), 0) as "evidence_size"
            from
              "evidence"
            where
              "evidence"."seed_id" = "latest"."id"
            order by
              "evidence"."created_at" desc,
              "evidence"."id" desc
            limit
              $20
          ) "newest"
      ) "pieces"
    group by
      "pieces"."seed_id"
  )
select
  "text",
  "count",
  "evidence_count",
  "any_is_cut",
  "outline_text",
  (
    select
      count(*)::int
    from
      "found"
  ),
  "all_seeds",
  "all_evidence"
from
  (
    select
      coalesce(string_agg("item"::text, E',\n'), '') as "text",
      count(*)::int as "count"
    from
      (
        select
          (
            select
              row_to_json(item)
            from
              (
                select
                  "latest"."id" as "id",
                  "latest"."title" as "title",
                  "latest"."summary" as "summary",
                  "latest"."problem" as "problem",
                  "latest"."audience" as "audience",
                  "latest"."hypothesis" as "hypothesis",
                  "latest"."success_criteria" as "successCriteria",
                  "latest"."status" as "status",
                  (
                    select
                      count(*)::int
                    from
                      "seed_participants"
                    where
                      "seed_participants"."seed_id" = "latest"."id"
                  ) as "participantCount",
                  exists (
                    select
                    from
                      "seed_participants"
                    where
                      (
                        "seed_participants"."seed_id" = "latest"."id"
                        and "seed_participants"."user_id" = $21
                      )
                  ) as "joined",
                  to_char("latest"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
                  to_char("latest"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt",
                  $22::text || "latest"."id" as "url",
                  "evidence_counts" as "evidenceCounts",
                  coalesce("shown_evidence", '[]') as "evidence"
              ) as item
          ) as "item"
        from
          "latest"
          cross join lateral (
            select
              row_to_json(counted) as "evidence_counts",
              ("supports" + "contradicts" + "neutral")::int as "evidence_total"
            from
              (
                select
                  count(*) filter (
                    where
                      "evidence"."verdict" = 'supports'
                  ) as "supports",
                  count(*) filter (
                    where
                      "evidence"."verdict" = 'contradicts'
                  ) as "contradicts",
                  count(*) filter (
                    where
                      "evidence"."verdict" = 'neutral'
                  ) as "neutral"
                from
                  "evidence"
                where
                  "evidence"."seed_id" = "latest"."id"
              ) "counted"
          ) "counts"
          left join "shown" on "shown"."seed_id" = "latest"."id"
        order by
          "seed_place"
      ) "rows"
  ) "in_full"
  cross join (
    select
      coalesce(sum("shown_count"), 0)::int as "evidence_count",
      coalesce(bool_or("is_cut"), false) as "any_is_cut"
    from
      "shown"
  ) "evidence_shown"
  cross join (
    select
      coalesce(string_agg("item"::text, E',\n'), '') as "outline_text"
    from
      (
        select
          (
            select
              row_to_json(item)
            from
              (
                select
                  "seeds"."id" as "id",
                  "seeds"."title" as "title",
                  "seeds"."status" as "status",
                  "evidence_counts" as "evidenceCounts",
                  to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
              ) as item
          ) as "item"
        from
          "found"
          inner join "seeds" on "seeds"."id" = "found"."id"
          cross join lateral (
            select
              row_to_json(counted) as "evidence_counts",
              ("supports" + "contradicts" + "neutral")::int as "evidence_total"
            from
              (
                select
                  count(*) filter (
                    where
                      "evidence"."verdict" = 'supports'
                  ) as "supports",
                  count(*) filter (
                    where
                      "evidence"."verdict" = 'contradicts'
                  ) as "contradicts",
                  count(*) filter (
                    where
                      "evidence"."verdict" = 'neutral'
                  ) as "neutral"
                from
                  "evidence"
                where
                  "evidence"."seed_id" = "seeds"."id"
              ) "counted"
          ) "counts"
        where
          "seed_place" <= $23
        order by
          "seed_place"
      ) "outline_rows"
  ) "outline"
  cross join (
    select
      count(*)::int as "all_seeds",
      coalesce(sum("piece_count"), 0)::int as "all_evidence"
    from
      "seeds"
      cross join lateral (
        select
          count(*) as "piece_count"
        from
          "evidence"
        where
          "evidence"."seed_id" = "seeds"."id"
      ) "piece_counts"
    where
      (
        "seeds"."workspace_id" = $24
        and "seeds"."updated_at" >= $25::timestamptz
        and (
          $26::text is null
          or "seeds"."status" = $27
        )
        and (
          $28::text is null
          or (
            lower("seeds"."title") like lower($29::text)
            or lower("seeds"."summary") like lower($30::text)
            or lower("seeds"."problem") like lower($31::text)
          )
        )
      )
  ) "totals";

-- seeds_select_kit_of_seed
select
  (
    select
      row_to_json(item)
    from
      (
        select
          "seeds"."id" as "id",
          "seeds"."title" as "title",
          "seeds"."summary" as "summary",
          "seeds"."problem" as "problem",
          "seeds"."audience" as "audience",
          "seeds"."hypothesis" as "hypothesis",
          "seeds"."success_criteria" as "successCriteria",
          "seeds"."status" as "status",
          (
            select
              count(*)::int
            from
              "seed_participants"
            where
              "seed_participants"."seed_id" = "seeds"."id"
          ) as "participantCount",
          exists (
            select
            from
              "seed_participants"
            where
              (
                "seed_participants"."seed_id" = "seeds"."id"
                and "seed_participants"."user_id" = $1
              )
          ) as "joined",
          to_char("seeds"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
          to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt",
          $2::text || "seeds"."id" as "url",
          "evidence_counts" as "evidenceCounts",
          coalesce("shown_evidence", '[]') as "evidence"
      ) as item
  )::text,
  "shown_count"::int,
  coalesce("is_cut", false),
  "evidence_total"
from
  "seeds"
  cross join lateral (
    select
      row_to_json(counted) as "evidence_counts",
      ("supports" + "contradicts" + "neutral")::int as "evidence_total"
    from
      (
        select
          count(*) filter (
            where
              "evidence"."verdict" = 'supports'
          ) as "supports",
          count(*) filter (
            where
              "evidence"."verdict" = 'contradicts'
          ) as "contradicts",
          count(*) filter (
            where
              "evidence"."verdict" = 'neutral'
          ) as "neutral"
        from
          "evidence"
        where
          "evidence"."seed_id" = "seeds"."id"
      ) "counted"
  ) "counts"
  cross join lateral (
    select
      count(*) filter (
        where
          (
            "round" <= $3::int
            and "evidence_before" < $4
          )
      ) as "shown_count",
      not bool_and(
        (
          "round" <= $5::int
          and "evidence_before" < $6
        )
      ) as "is_cut",
      json_agg(
        (
          select
            item
          from
            (
              select
                "newest"."id" as "id",
                "newest"."seed_id" as "seedId",
                "newest"."kind" as "kind",
                "newest"."verdict" as "verdict",
                "newest"."summary" as "summary",
                "newest"."source_url" as "sourceUrl",
                "newest"."author_user_id" as "authorUserId",
                "newest"."author_name" as "authorName",
                "newest"."agent_name" as "agentName",
                to_char("newest"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
            ) as item
        )
        order by
          "round"
      ) filter (
        where
          (
            "round" <= $7::int
            and "evidence_before" < $8
          )
      ) as "shown_evidence"
    from
      (
        select
          "id",
          "seed_id",
          "kind",
          "verdict",
          "summary",
          "source_url",
          "author_user_id",
          "author_name",
          "agent_name",
          "created_at",
          row_number() over (
            order by
              "evidence"."created_at" desc,
              "evidence"."id" desc
          ) as "round",
          sum(
            coalesce(octet_length("evidence"."summary"), 0) + coalesce(octet_length("evidence"."source_url"), 0)
          ) over (
            order by
              "evidence"."created_at" desc,
              "evidence"."id" desc rows unbounded preceding
          ) - (
            coalesce(octet_length("evidence"."summary"), 0) + coalesce(octet_length("evidence"."source_url"), 0)
          ) as "evidence_before"
        from
          "evidence"
        where
          (
            "evidence"."seed_id" = "seeds"."id"
            and ("evidence"."created_at", "evidence"."id") < (
              (
                select
                  $9::timestamptz
              ),
              (
                select
                  $10::uuid
              )
            )
          )
        order by
          "evidence"."created_at" desc,
          "evidence"."id" desc
        limit
          $11
      ) "newest"
  ) "shown"
where
  (
    "seeds"."workspace_id" = $12
    and "seeds"."id" = $13
  );

-- seeds_select_of_status
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "seeds"."id" as "id",
      "seeds"."title" as "title",
      "seeds"."summary" as "summary",
      "seeds"."problem" as "problem",
      "seeds"."audience" as "audience",
      "seeds"."hypothesis" as "hypothesis",
      "seeds"."success_criteria" as "successCriteria",
      "seeds"."status" as "status",
      "seeds"."created_by_user_id" as "createdByUserId",
      "seeds"."agent_name" as "agentName",
      (
        select
          count(*)::int
        from
          "seed_participants"
        where
          "seed_participants"."seed_id" = "seeds"."id"
      ) as "participantCount",
      exists (
        select
        from
          "seed_participants"
        where
          (
            "seed_participants"."seed_id" = "seeds"."id"
            and "seed_participants"."user_id" = $1
          )
      ) as "joined",
      to_char("seeds"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
    from
      (
        select
          "id",
          sum("row_size") over (
            order by
              "page"."created_at" desc,
              "page"."id" desc rows unbounded preceding
          ) - ("row_size") as "bytes_before"
        from
          (
            select
              "id",
              "created_at",
              coalesce(octet_length("seeds"."title"), 0) + coalesce(octet_length("seeds"."summary"), 0) + coalesce(octet_length("seeds"."problem"), 0) + coalesce(octet_length("seeds"."audience"), 0) + coalesce(octet_length("seeds"."hypothesis"), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) as "row_size"
            from
              "seeds"
            where
              (
                (
                  "seeds"."workspace_id" = $2
                  and "seeds"."status" = (
                    select
                      $3::text
                  )
                )
                and ("seeds"."created_at", "seeds"."id") < (
                  (
                    select
                      $4::timestamptz
                  ),
                  (
                    select
                      $5::uuid
                  )
                )
              )
            order by
              "seeds"."created_at" desc,
              "seeds"."id" desc
            limit
              (
                select
                  $6::int
              )
          ) "page"
      ) "placed"
      inner join "seeds" on "seeds"."id" = "placed"."id"
    where
      "bytes_before" < $7
    order by
      "seeds"."created_at" desc,
      "seeds"."id" desc
  ) "rows";

-- seeds_select_of_workspace
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "seeds"."id" as "id",
      "seeds"."title" as "title",
      "seeds"."summary" as "summary",
      "seeds"."problem" as "problem",
      "seeds"."audience" as "audience",
      "seeds"."hypothesis" as "hypothesis",
      "seeds"."success_criteria" as "successCriteria",
      "seeds"."status" as "status",
      "seeds"."created_by_user_id" as "createdByUserId",
      "seeds"."agent_name" as "agentName",
      (
        select
          count(*)::int
        from
          "seed_participants"
        where
          "seed_participants"."seed_id" = "seeds"."id"
      ) as "participantCount",
      exists (
        select
        from
          "seed_participants"
        where
          (
            "seed_participants"."seed_id" = "seeds"."id"
            and "seed_participants"."user_id" = $1
          )
      ) as "joined",
      to_char("seeds"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
    from
      (
        select
          "id",
          sum("row_size") over (
            order by
              "page"."created_at" desc,
              "page"."id" desc rows unbounded preceding
          ) - ("row_size") as "bytes_before"
        from
          (
            select
              "id",
              "created_at",
              coalesce(octet_length("seeds"."title"), 0) + coalesce(octet_length("seeds"."summary"), 0) + coalesce(octet_length("seeds"."problem"), 0) + coalesce(octet_length("seeds"."audience"), 0) + coalesce(octet_length("seeds"."hypothesis"), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) as "row_size"
            from
              "seeds"
            where
              (
                "seeds"."workspace_id" = $2
                and ("seeds"."created_at", "seeds"."id") < (
                  (
                    select
                      $3::timestamptz
                  ),
                  (
                    select
                      $4::uuid
                  )
                )
              )
            order by
              "seeds"."created_at" desc,
              "seeds"."id" desc
            limit
              (
                select
                  $5::int
              )
          ) "page"
      ) "placed"
      inner join "seeds" on "seeds"."id" = "placed"."id"
    where
      "bytes_before" < $6
    order by
      "seeds"."created_at" desc,
      "seeds"."id" desc
  ) "rows";

-- seeds_touch
update "seeds"
set
  "updated_at" = $1::timestamptz
where
  "seeds"."id" = $2;

-- sessions_lock_live
select
  "id"
from
  "sessions"
where
  (
    "sessions"."id" = $1
    and "sessions"."expires_at" > $2
  )
for share;

-- sessions_select_live
select
  "sessions"."id",
  "sessions"."created_at",
  "sessions"."last_used_at",
  "sessions"."proven_at",
  "users"."id",
  "users"."name",
  "users"."email",
  "users"."email_verified_at",
  "users"."image_key",
  (
    select
      coalesce(json_agg(recent), '[]')
    from
      (
        select
          "workspaces"."name",
          "workspaces"."slug",
          $1::text || "workspaces"."icon_key" as "iconUrl"
        from
          "memberships"
          join "workspaces" on "workspaces"."id" = "memberships"."workspace_id"
        where
          "memberships"."user_id" = "users"."id"
        order by
          "memberships"."last_used_at" desc,
          "memberships"."joined_at" desc,
          "memberships"."workspace_id" desc
        limit
          20
      ) as recent
  )
from
  "sessions"
  inner join "users" on "users"."id" = "sessions"."user_id"
where
  (
    "sessions"."token_hash" = $2
    and "sessions"."expires_at" > $3
  );

-- team_members_select_of_team
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "team_members"."user_id" as "userId",
      "users"."name" as "name",
      $1::text || "users"."image_key" as "image",
      to_char("team_members"."added_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "addedAt"
    from
      "team_members"
      inner join "users" on "users"."id" = "team_members"."user_id"
    where
      (
        "team_members"."team_id" = $2
        and ("team_members"."added_at", "team_members"."user_id") > (
          (
            select
              $3::timestamptz
          ),
          (
            select
              $4::uuid
          )
        )
      )
    order by
      "team_members"."added_at" asc,
      "team_members"."user_id" asc
    limit
      (
        select
          $5::int
      )
  ) "rows";

-- teams_select_of_workspace
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "name" as "name",
      (
        select
          count(*)::int
        from
          "team_members"
        where
          "team_members"."team_id" = "teams"."id"
      ) as "memberCount",
      to_char("teams"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
    from
      "teams"
    where
      (
        "teams"."workspace_id" = $1
        and ("teams"."created_at", "teams"."id") > (
          (
            select
              $2::timestamptz
          ),
          (
            select
              $3::uuid
          )
        )
      )
    order by
      "teams"."created_at" asc,
      "teams"."id" asc
    limit
      (
        select
          $4::int
      )
  ) "rows";

-- users_lock
select
  "id"
from
  "users"
where
  "users"."id" = $1
for no key update;

-- users_select_preferences
select
  "product_updates",
  "workspace_activity"
from
  "users"
where
  "users"."id" = $1;

-- users_set_name
update "users"
set
  "name" = $1
where
  "users"."id" = $2;

-- users_set_preferences
update "users"
set
  "product_updates" = $1,
  "workspace_activity" = $2
where
  "users"."id" = $3;

-- workspace_slugs_select_holder
select
  "workspace_slugs"."workspace_id",
  "memberships"."user_id"
from
  "workspace_slugs"
  left join "memberships" on (
    "memberships"."workspace_id" = "workspace_slugs"."workspace_id"
    and "memberships"."user_id" = $1
  )
where
  (
    "workspace_slugs"."slug" = $2
    and (
      "workspace_slugs"."kept_until" is null
      or "workspace_slugs"."kept_until" > $3
    )
  );

-- workspaces_lock_members
select
  "id"
from
  "workspaces"
where
  "workspaces"."id" = $1
for no key update;

-- workspaces_select_by_seed
select
  asked.place::int,
  "workspaces"."id",
  "workspaces"."name",
  "workspaces"."slug",
  "workspaces"."icon_key",
  "workspaces"."allowed_domains",
  (
    select
      "memberships"."role"
    from
      "memberships"
    where
      "memberships"."workspace_id" = "workspaces"."id"
      and "memberships"."user_id" = asked.user_id
  ) as "caller_role",
  (
    select
      "memberships"."last_used_at" > $1
      and not exists (
        select
        from
          "memberships" as other
        where
          other.user_id = "memberships"."user_id"
          and other.workspace_id <> "memberships"."workspace_id"
          and other.last_used_at >= "memberships"."last_used_at"
      )
    from
      "memberships"
    where
      "memberships"."workspace_id" = "workspaces"."id"
      and "memberships"."user_id" = asked.user_id
  ) as "is_use_recorded"
from
  unnest(
    (
      select
        $2::uuid[]
    )::uuid[],
    (
      select
        $3::uuid[]
    )::uuid[]
  ) with ordinality as asked (key, user_id, place)
  inner join "seeds" on "seeds"."id" = asked.key
  inner join "workspaces" on "workspaces"."id" = "seeds"."workspace_id";

-- workspaces_select_by_slug
select
  asked.place::int,
  "workspaces"."id",
  "workspaces"."name",
  "workspaces"."slug",
  "workspaces"."icon_key",
  "workspaces"."allowed_domains",
  (
    select
      "memberships"."role"
    from
      "memberships"
    where
      "memberships"."workspace_id" = "workspaces"."id"
      and "memberships"."user_id" = asked.user_id
  ) as "caller_role",
  (
    select
      "memberships"."last_used_at" > $1
      and not exists (
        select
        from
          "memberships" as other
        where
          other.user_id = "memberships"."user_id"
          and other.workspace_id <> "memberships"."workspace_id"
          and other.last_used_at >= "memberships"."last_used_at"
      )
    from
      "memberships"
    where
      "memberships"."workspace_id" = "workspaces"."id"
      and "memberships"."user_id" = asked.user_id
  ) as "is_use_recorded"
from
  unnest(
    (
      select
        $2::text[]
    )::text[],
    (
      select
        $3::uuid[]
    )::uuid[]
  ) with ordinality as asked (key, user_id, place)
  inner join "workspace_slugs" on "workspace_slugs"."slug" = asked.key
  inner join "workspaces" on "workspaces"."id" = "workspace_slugs"."workspace_id"
where
  (
    "workspace_slugs"."kept_until" is null
    or "workspace_slugs"."kept_until" > $4
  );
