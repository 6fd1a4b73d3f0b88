-- The prepared statements of the service, by their names: the SQL of all hot paths and changes.
-- Made by `npm run docs`.

-- agent_call_log_select
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "agent_call_log"."id" as "id",
      to_char("agent_call_log"."called_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "calledAt",
      "agent_call_log"."tool" as "tool",
      "agent_call_log"."code" as "code",
      "seeds"."id" as "seedId",
      "seeds"."title" as "seedTitle"
    from
      "agent_call_log"
      left join "seeds" on (
        "seeds"."id" = "agent_call_log"."seed_id"
        and "seeds"."workspace_id" = $1
        and "seeds"."deleted_at" is null
      )
    where
      (
        "agent_call_log"."grant_id" = (
          select
            $2::uuid
        )
        and ("agent_call_log"."called_at", "agent_call_log"."id") < (
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
      "agent_call_log"."called_at" desc,
      "agent_call_log"."id" desc
    limit
      (
        select
          $5::int
      )
  ) "rows";

-- agent_grants_lock_live
select
  "id"
from
  "agent_grants"
where
  (
    "agent_grants"."id" = $1
    and "agent_grants"."revoked_at" is null
    and not exists (
      select
      from
        "users" as suspended
      where
        suspended.id = "agent_grants"."user_id"
        and suspended.suspended_at is not null
    )
    and "agent_grants"."expires_at" > $2
  )
for share;

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
    and "agent_grants"."asserted_issuer" is null
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

-- agent_grants_select_known
select
  "service_accounts"."id",
  "users"."name",
  "agent_grants"."id",
  "agent_grants"."client_name"
from
  "agent_grants"
  inner join "service_accounts" on "service_accounts"."user_id" = "agent_grants"."user_id"
  inner join "users" on "users"."id" = "agent_grants"."user_id"
where
  (
    "agent_grants"."workspace_id" = $1
    and "agent_grants"."revoked_at" is null
    and "agent_grants"."expires_at" > $2
    and (
      "agent_grants"."shown_to_user_id" = $3
      or (
        "agent_grants"."former_secret_until" > $4
        and "agent_grants"."former_shown_to_user_id" = $5
      )
    )
  )
order by
  "agent_grants"."created_at" asc,
  "agent_grants"."id" asc;

-- agent_grants_select_known_outside
select
  "service_accounts"."id",
  "users"."name",
  "agent_grants"."id",
  "agent_grants"."client_name"
from
  "agent_grants"
  inner join "service_accounts" on "service_accounts"."user_id" = "agent_grants"."user_id"
  inner join "users" on "users"."id" = "agent_grants"."user_id"
where
  (
    "agent_grants"."id" = $1
    and (
      (
        "agent_grants"."shown_to_user_id" is not null
        and not exists (
          select
          from
            "memberships"
          where
            "memberships"."user_id" = "agent_grants"."shown_to_user_id"
            and not exists (
              select
              from
                "users" as suspended
              where
                suspended.id = "agent_grants"."shown_to_user_id"
                and suspended.suspended_at is not null
            )
            and "memberships"."workspace_id" = $2
            and "memberships"."role" in ('owner', 'admin')
        )
      )
      or (
        "agent_grants"."former_secret_until" > $3
        and (
          "agent_grants"."former_shown_to_user_id" is not null
          and not exists (
            select
            from
              "memberships"
            where
              "memberships"."user_id" = "agent_grants"."former_shown_to_user_id"
              and not exists (
                select
                from
                  "users" as suspended
                where
                  suspended.id = "agent_grants"."former_shown_to_user_id"
                  and suspended.suspended_at is not null
              )
              and "memberships"."workspace_id" = $4
              and "memberships"."role" in ('owner', 'admin')
          )
        )
      )
    )
  );

-- agent_grants_select_live
select
  "agent_grants"."id",
  "agent_grants"."client_id",
  "agent_grants"."client_name",
  "agent_grants"."scopes",
  "agent_grants"."consent_version",
  "agent_grants"."members_may_ask",
  "agent_grants"."expires_at",
  "agent_grants"."asserted_issuer",
  "users"."id",
  "users"."name",
  "users"."email",
  "users"."email_verified_at",
  "users"."image_key",
  "workspaces"."id",
  "workspaces"."name",
  "workspaces"."slug",
  "memberships"."role",
  "users"."kind" = 'service' as "is_service"
from
  "agent_grants"
  inner join "memberships" on (
    "memberships"."workspace_id" = "agent_grants"."workspace_id"
    and "memberships"."user_id" = "agent_grants"."user_id"
  )
  inner join "users" on (
    "users"."id" = "agent_grants"."user_id"
    and "users"."suspended_at" is null
  )
  inner join "workspaces" on (
    "workspaces"."id" = "agent_grants"."workspace_id"
    and "workspaces"."deleted_at" is null
  )
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

-- agent_grants_select_live_by_id
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
      "agent_grants"."members_may_ask" as "membersMayAsk",
      to_char("agent_grants"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("agent_grants"."last_used_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastUsedAt",
      to_char("agent_grants"."expires_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "expiresAt",
      "agent_grants"."asserted_issuer" as "assertedIssuer"
    from
      "agent_grants"
      inner join "users" on "users"."id" = "agent_grants"."user_id"
    where
      (
        "agent_grants"."workspace_id" = $1
        and "agent_grants"."id" = $2
        and "agent_grants"."revoked_at" is null
        and "agent_grants"."expires_at" > $3
      )
  ) "rows";

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
      "agent_grants"."members_may_ask" as "membersMayAsk",
      to_char("agent_grants"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("agent_grants"."last_used_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastUsedAt",
      to_char("agent_grants"."expires_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "expiresAt",
      "agent_grants"."asserted_issuer" as "assertedIssuer"
    from
      "agent_grants"
      inner join "users" on "users"."id" = "agent_grants"."user_id"
    where
      (
        "agent_grants"."workspace_id" = $1
        and (
          "agent_grants"."user_id" = $2
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
        and "agent_grants"."revoked_at" is null
        and "agent_grants"."expires_at" > $5
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
      "agent_grants"."members_may_ask" as "membersMayAsk",
      to_char("agent_grants"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("agent_grants"."last_used_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastUsedAt",
      to_char("agent_grants"."expires_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "expiresAt",
      "agent_grants"."asserted_issuer" as "assertedIssuer"
    from
      "agent_grants"
      inner join "users" on "users"."id" = "agent_grants"."user_id"
    where
      (
        "agent_grants"."workspace_id" = $1
        and ("agent_grants"."created_at", "agent_grants"."id") < (
          (
            select
              $2::timestamptz
          ),
          (
            select
              $3::uuid
          )
        )
        and "agent_grants"."revoked_at" is null
        and "agent_grants"."expires_at" > $4
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

-- agent_requests_end
update "agent_requests"
set
  "state" = $1,
  "reason" = $2,
  "answer_comment_id" = $3
where
  (
    "agent_requests"."workspace_id" = $4
    and "agent_requests"."id" = $5
  );

-- agent_requests_insert
insert into
  "agent_requests" (
    "id",
    "workspace_id",
    "comment_id",
    "grant_id",
    "agent_name",
    "for_user_id",
    "asked_by_user_id",
    "state",
    "reason",
    "answer_comment_id",
    "created_at",
    "expires_at",
    "is_untold"
  )
values
  ($1, $2, $3, $4, $5, $6, $7, $8, default, default, $9, $10, default);

-- api_keys_count_active
select
  count(*)
from
  "api_keys"
where
  (
    "api_keys"."user_id" = $1
    and "api_keys"."revoked_at" is null
    and (
      "api_keys"."expires_at" is null
      or "api_keys"."expires_at" > $2
    )
  );

-- api_keys_lock_active
select
  "expires_at",
  "access",
  "workspace_ids",
  "max_role"
from
  "api_keys"
where
  (
    "api_keys"."id" = $1
    and "api_keys"."revoked_at" is null
    and not exists (
      select
      from
        "users" as suspended
      where
        suspended.id = "api_keys"."user_id"
        and suspended.suspended_at is not null
    )
    and (
      "api_keys"."expires_at" is null
      or "api_keys"."expires_at" > $2
    )
  )
for share;

-- api_keys_select_active
select
  "id",
  "name",
  "token_prefix",
  "last_four",
  "created_at",
  "last_used_at",
  "expires_at",
  "access",
  "workspace_ids",
  "max_role",
  "rotated_at"
from
  "api_keys"
where
  (
    "api_keys"."user_id" = $1
    and "api_keys"."revoked_at" is null
    and (
      "api_keys"."expires_at" is null
      or "api_keys"."expires_at" > $2
    )
  )
order by
  "api_keys"."created_at" desc,
  "api_keys"."id" desc;

-- api_keys_select_active_by_id
select
  "id",
  "name",
  "token_prefix",
  "last_four",
  "created_at",
  "last_used_at",
  "expires_at",
  "access",
  "workspace_ids",
  "max_role",
  "rotated_at"
from
  "api_keys"
where
  (
    "api_keys"."id" = $1
    and (
      "api_keys"."user_id" = $2
      and "api_keys"."revoked_at" is null
      and (
        "api_keys"."expires_at" is null
        or "api_keys"."expires_at" > $3
      )
    )
  );

-- api_keys_select_due_notices
select
  "id"
from
  "api_keys"
where
  (
    "api_keys"."revoked_at" is null
    and "api_keys"."expiry_notice_at" <= $1
    and "api_keys"."expires_at" > $2
  )
order by
  "api_keys"."expiry_notice_at" asc
limit
  (
    select
      $3::int
  );

-- api_keys_select_known
select
  "service_accounts"."id",
  "users"."name",
  "api_keys"."id",
  "api_keys"."name",
  "api_keys"."last_four"
from
  "api_keys"
  inner join "service_accounts" on "service_accounts"."user_id" = "api_keys"."user_id"
  inner join "users" on "users"."id" = "api_keys"."user_id"
where
  (
    "api_keys"."shown_to_user_id" = $1
    and "service_accounts"."workspace_id" = $2
    and "api_keys"."revoked_at" is null
    and (
      "api_keys"."expires_at" is null
      or "api_keys"."expires_at" > $3
    )
  )
order by
  "api_keys"."created_at" asc,
  "api_keys"."id" asc;

-- api_keys_select_known_outside
select
  "service_accounts"."id",
  "users"."name",
  "api_keys"."id",
  "api_keys"."name",
  "api_keys"."last_four"
from
  "api_keys"
  inner join "service_accounts" on "service_accounts"."user_id" = "api_keys"."user_id"
  inner join "users" on "users"."id" = "api_keys"."user_id"
where
  (
    "api_keys"."id" = $1
    and (
      "api_keys"."shown_to_user_id" is not null
      and not exists (
        select
        from
          "memberships"
        where
          "memberships"."user_id" = "api_keys"."shown_to_user_id"
          and not exists (
            select
            from
              "users" as suspended
            where
              suspended.id = "api_keys"."shown_to_user_id"
              and suspended.suspended_at is not null
          )
          and "memberships"."workspace_id" = $2
          and "memberships"."role" in ('owner', 'admin')
      )
    )
  );

-- api_keys_select_of_member
select
  "api_keys"."id",
  "api_keys"."token_prefix",
  "api_keys"."last_four"
from
  "memberships"
  inner join "api_keys" on "api_keys"."user_id" = "memberships"."user_id"
where
  (
    "memberships"."workspace_id" = (
      select
        $1::uuid
    )
    and "memberships"."user_id" = $2
    and (
      "api_keys"."revoked_at" is null
      and (
        "api_keys"."expires_at" is null
        or "api_keys"."expires_at" > (
          select
            $3::timestamptz
        )
      )
      and (
        "memberships"."workspace_id" = any ("api_keys"."workspace_ids")
        or (
          select
            max("events"."created_at")
          from
            "events"
          where
            "events"."workspace_id" = "memberships"."workspace_id"
            and "events"."api_key_id" = "api_keys"."id"
        ) >= (
          select
            $4::timestamptz
        )
      )
    )
  )
order by
  "api_keys"."created_at",
  "api_keys"."id";

-- api_keys_select_of_workspace
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
              "page"."id" as "id",
              "page"."user_id" as "ownerUserId",
              "page"."name" as "ownerName",
              "page"."kind" as "kind",
              "page"."token_prefix" as "tokenPrefix",
              "page"."last_four" as "lastFour",
              to_char("last_change_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastChangeAt",
              "page"."access" as "access",
              "page"."max_role" as "maxRole",
              to_char("page"."expires_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "expiresAt"
          ) as item
      ) as "item",
      "created_at"
    from
      (
        select
          "api_keys"."id",
          "api_keys"."user_id",
          "users"."name",
          "users"."kind",
          "api_keys"."token_prefix",
          "api_keys"."last_four",
          (
            select
              max("events"."created_at")
            from
              "events"
            where
              "events"."workspace_id" = "memberships"."workspace_id"
              and "events"."api_key_id" = "api_keys"."id"
          ) as "last_change_at",
          "api_keys"."access",
          "api_keys"."max_role",
          "api_keys"."expires_at",
          "api_keys"."created_at"
        from
          "memberships"
          inner join "api_keys" on "api_keys"."user_id" = "memberships"."user_id"
          inner join "users" on "users"."id" = "api_keys"."user_id"
        where
          (
            "memberships"."workspace_id" = (
              select
                $1::uuid
            )
            and (
              "api_keys"."revoked_at" is null
              and (
                "api_keys"."expires_at" is null
                or "api_keys"."expires_at" > (
                  select
                    $2::timestamptz
                )
              )
              and (
                "memberships"."workspace_id" = any ("api_keys"."workspace_ids")
                or (
                  select
                    max("events"."created_at")
                  from
                    "events"
                  where
                    "events"."workspace_id" = "memberships"."workspace_id"
                    and "events"."api_key_id" = "api_keys"."id"
                ) >= (
                  select
                    $3::timestamptz
                )
              )
            )
            and ("api_keys"."created_at", "api_keys"."id") < (
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
          "api_keys"."created_at" desc,
          "api_keys"."id" desc
        limit
          (
            select
              $6::int
          )
      ) "page"
    order by
      "page"."created_at" desc,
      "page"."id" desc
  ) "rows";

-- api_keys_select_owners
select
  asked.ordinal::int,
  "api_keys"."id",
  "api_keys"."expires_at",
  "api_keys"."access",
  "api_keys"."workspace_ids",
  "api_keys"."max_role",
  "users"."kind" = 'service' as "is_service",
  "users"."id",
  "users"."name",
  "users"."email",
  "users"."email_verified_at",
  "users"."image_key"
from
  unnest(
    (
      select
        $1::bytea[]
    )::bytea[]
  ) with ordinality as asked (secret_hash, ordinal)
  inner join "api_keys" on (
    "api_keys"."secret_hash" = asked.secret_hash
    and "api_keys"."revoked_at" is null
  )
  inner join "users" on (
    "users"."id" = "api_keys"."user_id"
    and "users"."suspended_at" is null
  );

-- api_keys_select_owners_by_seed
select
  asked.ordinal::int,
  "api_keys"."id",
  "api_keys"."expires_at",
  "api_keys"."access",
  "api_keys"."workspace_ids",
  "api_keys"."max_role",
  "users"."kind" = 'service' as "is_service",
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
  ) with ordinality as asked (secret_hash, key, ordinal)
  inner join "api_keys" on (
    "api_keys"."secret_hash" = asked.secret_hash
    and "api_keys"."revoked_at" is null
  )
  inner join "users" on (
    "users"."id" = "api_keys"."user_id"
    and "users"."suspended_at" is null
  )
  left join "seeds" on (
    "seeds"."id" = asked.key
    and "seeds"."deleted_at" is null
  )
  left join "workspaces" on (
    "workspaces"."id" = "seeds"."workspace_id"
    and "workspaces"."deleted_at" is null
  );

-- api_keys_select_owners_by_slug
select
  asked.ordinal::int,
  "api_keys"."id",
  "api_keys"."expires_at",
  "api_keys"."access",
  "api_keys"."workspace_ids",
  "api_keys"."max_role",
  "users"."kind" = 'service' as "is_service",
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
  ) with ordinality as asked (secret_hash, key, ordinal)
  inner join "api_keys" on (
    "api_keys"."secret_hash" = asked.secret_hash
    and "api_keys"."revoked_at" is null
  )
  inner join "users" on (
    "users"."id" = "api_keys"."user_id"
    and "users"."suspended_at" is null
  )
  left join "workspace_slugs" on (
    "workspace_slugs"."slug" = asked.key
    and (
      "workspace_slugs"."kept_until" is null
      or "workspace_slugs"."kept_until" > $4
    )
  )
  left join "workspaces" on (
    "workspaces"."id" = "workspace_slugs"."workspace_id"
    and "workspaces"."deleted_at" is null
  );

-- api_keys_select_replaced
select
  "replaced"."id"
from
  "api_keys" "replaced"
  inner join "api_keys" on (
    "api_keys"."user_id" = "replaced"."user_id"
    and "api_keys"."name" = "replaced"."name"
    and "api_keys"."created_at" = "replaced"."rotated_at"
    and "api_keys"."id" <> "replaced"."id"
  )
where
  (
    "api_keys"."id" = $1
    and "api_keys"."user_id" = $2
    and "api_keys"."revoked_at" is null
    and "replaced"."revoked_at" is null
    and "replaced"."expires_at" > $3
  );

-- asks_lock_of_grant
select
  pg_advisory_xact_lock(hashtextextended ('asks of ' || $1::text, 0))
from
  (
    values
      (0)
  ) as asks;

-- attachments_claim
update "attachments"
set
  "seed_id" = $1::uuid,
  "evidence_id" = $2::uuid,
  "comment_id" = $3::uuid
where
  (
    "attachments"."id" = any (
      (
        select
          $4::uuid[]
      )::uuid[]
    )
    and "attachments"."workspace_id" = $5
    and "attachments"."created_by_user_id" = $6
    and "attachments"."seed_id" is null
  );

-- attachments_delete
delete from "attachments"
where
  (
    "attachments"."id" = $1
    and "attachments"."workspace_id" = $2
  );

-- attachments_delete_of_owner
delete from "attachments"
where
  (
    "attachments"."workspace_id" = $1::uuid
    and "attachments"."seed_id" = $2::uuid
    and "attachments"."evidence_id" is not distinct from $3::uuid
    and "attachments"."comment_id" is not distinct from $4::uuid
    and "attachments"."id" = any (
      (
        select
          $5::uuid[]
      )::uuid[]
    )
  );

-- attachments_insert
insert into
  "attachments" (
    "id",
    "workspace_id",
    "name",
    "type",
    "bytes",
    "width",
    "height",
    "sha256",
    "key",
    "thumbnail_key",
    "text",
    "created_by_user_id",
    "created_at",
    "seed_id",
    "evidence_id",
    "comment_id",
    "position"
  )
values
  ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, default, default, default, default);

-- attachments_order
update "attachments"
set
  "position" = array_position(
    (
      select
        $1::uuid[]
    )::uuid[],
    "attachments"."id"
  )::smallint
where
  (
    "attachments"."workspace_id" = $2::uuid
    and "attachments"."seed_id" = $3::uuid
    and "attachments"."evidence_id" is not distinct from $4::uuid
    and "attachments"."comment_id" is not distinct from $5::uuid
    and "attachments"."id" = any (
      (
        select
          $6::uuid[]
      )::uuid[]
    )
  );

-- attachments_select
select
  "attachments"."id",
  "attachments"."workspace_id",
  "attachments"."name",
  "attachments"."type",
  "attachments"."bytes",
  "attachments"."width",
  "attachments"."height",
  "attachments"."sha256",
  "attachments"."key",
  "attachments"."thumbnail_key",
  "attachments"."created_by_user_id",
  "attachments"."created_at",
  "attachments"."seed_id",
  "attachments"."evidence_id",
  "attachments"."comment_id",
  "seeds"."title",
  "seeds"."status"
from
  "attachments"
  left join "seeds" on (
    "seeds"."id" = "attachments"."seed_id"
    and "seeds"."workspace_id" = "attachments"."workspace_id"
  )
where
  (
    (
      "attachments"."id" = $1
      and "attachments"."workspace_id" = $2
    )
    and (
      "attachments"."seed_id" is null
      or "seeds"."deleted_at" is null
    )
  );

-- attachments_select_linked
select
  "attachments"."id",
  "attachments"."workspace_id",
  "attachments"."name",
  "attachments"."type",
  "attachments"."bytes",
  "attachments"."width",
  "attachments"."height",
  "attachments"."sha256",
  "attachments"."key",
  "attachments"."thumbnail_key",
  "attachments"."created_by_user_id",
  "attachments"."created_at",
  "attachments"."seed_id",
  "attachments"."evidence_id",
  "attachments"."comment_id",
  "seeds"."title",
  "seeds"."status"
from
  "attachments"
  inner join "workspaces" on (
    "workspaces"."id" = "attachments"."workspace_id"
    and "workspaces"."deleted_at" is null
  )
  left join "seeds" on (
    "seeds"."id" = "attachments"."seed_id"
    and "seeds"."workspace_id" = "attachments"."workspace_id"
  )
where
  (
    "attachments"."id" = $1
    and (
      "attachments"."seed_id" is null
      or "seeds"."deleted_at" is null
    )
  );

-- attachments_select_of_owner
select
  coalesce(
    (
      select
        json_agg(
          json_build_object(
            'id',
            "attachments"."id",
            'workspaceId',
            "attachments"."workspace_id",
            'name',
            "attachments"."name",
            'type',
            "attachments"."type",
            'bytes',
            "attachments"."bytes",
            'width',
            "attachments"."width",
            'height',
            "attachments"."height",
            'createdByUserId',
            "attachments"."created_by_user_id",
            'createdAt',
            to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
          )
          order by
            "attachments"."position",
            "attachments"."id"
        )
      from
        "attachments"
      where
        "attachments"."workspace_id" = $1::uuid
        and "attachments"."seed_id" = $2::uuid
        and "attachments"."evidence_id" is not distinct from $3::uuid
        and "attachments"."comment_id" is not distinct from $4::uuid
    ),
    '[]'
  ) as "attachments"
from
  (
    select
  ) as nothing;

-- attachments_select_text
select
  "text"
from
  "attachments"
where
  (
    "attachments"."id" = $1
    and "attachments"."workspace_id" = $2
  );

-- comment_mentions_insert
insert into
  "comment_mentions" ("comment_id", "user_id")
select
  $1::uuid as "comment_id",
  "id"
from
  "users"
where
  "users"."id" = any (
    (
      select
        $2::uuid[]
    )::uuid[]
  )
on conflict do nothing;

-- comments_insert
insert into
  "comments" (
    "id",
    "workspace_id",
    "seed_id",
    "evidence_id",
    "body",
    "author_user_id",
    "author_name",
    "agent_name",
    "grant_id",
    "created_at",
    "edited_at"
  )
values
  ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, default);

-- comments_select
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "workspace_id" as "workspaceId",
      $1::text || "comments"."seed_id" || '#comment-' || "comments"."id" as "url",
      "seed_id" as "seedId",
      "evidence_id" as "evidenceId",
      "body" as "body",
      coalesce(
        (
          select
            json_agg(
              json_build_object('userId', "users"."id", 'name', "users"."name")
              order by
                "users"."id"
            )
          from
            "comment_mentions"
            join "users" on "users"."id" = "comment_mentions"."user_id"
          where
            "comment_mentions"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "mentions",
      case
        when position('](team:' in "comments"."body") = 0 then '[]'
        else coalesce(
          (
            select
              json_agg(
                json_build_object('teamId', "teams"."id", 'name', "teams"."name")
                order by
                  "teams"."id"
              )
            from
              "teams"
            where
              "teams"."workspace_id" = "comments"."workspace_id"
              and "teams"."id" in (
                select
                  found[1]::uuid
                from
                  regexp_matches("comments"."body", '\]\(team:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)', 'g') as found
              )
          ),
          '[]'
        )
      end as "teamMentions",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            "attachments"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "attachments",
      "author_user_id" as "authorUserId",
      "author_name" as "authorName",
      "agent_name" as "agentName",
      to_char("comments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("comments"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt"
    from
      "comments"
    where
      (
        "comments"."workspace_id" = $2
        and "comments"."id" = $3
      )
  ) "rows";

-- comments_select_about_seed
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "workspace_id" as "workspaceId",
      $1::text || "comments"."seed_id" || '#comment-' || "comments"."id" as "url",
      "seed_id" as "seedId",
      "evidence_id" as "evidenceId",
      "body" as "body",
      coalesce(
        (
          select
            json_agg(
              json_build_object('userId', "users"."id", 'name', "users"."name")
              order by
                "users"."id"
            )
          from
            "comment_mentions"
            join "users" on "users"."id" = "comment_mentions"."user_id"
          where
            "comment_mentions"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "mentions",
      case
        when position('](team:' in "comments"."body") = 0 then '[]'
        else coalesce(
          (
            select
              json_agg(
                json_build_object('teamId', "teams"."id", 'name', "teams"."name")
                order by
                  "teams"."id"
              )
            from
              "teams"
            where
              "teams"."workspace_id" = "comments"."workspace_id"
              and "teams"."id" in (
                select
                  found[1]::uuid
                from
                  regexp_matches("comments"."body", '\]\(team:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)', 'g') as found
              )
          ),
          '[]'
        )
      end as "teamMentions",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            "attachments"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "attachments",
      "author_user_id" as "authorUserId",
      "author_name" as "authorName",
      "agent_name" as "agentName",
      to_char("comments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("comments"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt",
      (
        select
          $2::text || "users"."image_key"
        from
          "memberships"
          join "users" on "users"."id" = "memberships"."user_id"
        where
          "memberships"."user_id" = "comments"."author_user_id"
          and "memberships"."workspace_id" = $3::uuid
      ) as "authorPicture"
    from
      "comments"
    where
      (
        (
          "comments"."workspace_id" = (
            select
              $4::uuid
          )
          and "comments"."seed_id" = $5
        )
        and "comments"."evidence_id" is null
        and ("comments"."created_at", "comments"."id") < (
          (
            select
              $6::timestamptz
          ),
          (
            select
              $7::uuid
          )
        )
      )
    order by
      "comments"."created_at" desc,
      "comments"."id" desc
    limit
      (
        select
          $8::int
      )
  ) "rows";

-- comments_select_newest_of_seed
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "workspace_id" as "workspaceId",
      $1::text || "comments"."seed_id" || '#comment-' || "comments"."id" as "url",
      "seed_id" as "seedId",
      "evidence_id" as "evidenceId",
      "body" as "body",
      coalesce(
        (
          select
            json_agg(
              json_build_object('userId', "users"."id", 'name', "users"."name")
              order by
                "users"."id"
            )
          from
            "comment_mentions"
            join "users" on "users"."id" = "comment_mentions"."user_id"
          where
            "comment_mentions"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "mentions",
      case
        when position('](team:' in "comments"."body") = 0 then '[]'
        else coalesce(
          (
            select
              json_agg(
                json_build_object('teamId', "teams"."id", 'name', "teams"."name")
                order by
                  "teams"."id"
              )
            from
              "teams"
            where
              "teams"."workspace_id" = "comments"."workspace_id"
              and "teams"."id" in (
                select
                  found[1]::uuid
                from
                  regexp_matches("comments"."body", '\]\(team:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)', 'g') as found
              )
          ),
          '[]'
        )
      end as "teamMentions",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            "attachments"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "attachments",
      "author_user_id" as "authorUserId",
      "author_name" as "authorName",
      "agent_name" as "agentName",
      to_char("comments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("comments"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt",
      (
        select
          $2::text || "users"."image_key"
        from
          "memberships"
          join "users" on "users"."id" = "memberships"."user_id"
        where
          "memberships"."user_id" = "comments"."author_user_id"
          and "memberships"."workspace_id" = $3::uuid
      ) as "authorPicture"
    from
      "comments"
    where
      (
        (
          "comments"."workspace_id" = (
            select
              $4::uuid
          )
          and "comments"."seed_id" = $5
        )
        and ("comments"."created_at", "comments"."id") < (
          (
            select
              $6::timestamptz
          ),
          (
            select
              $7::uuid
          )
        )
      )
    order by
      "comments"."created_at" desc,
      "comments"."id" desc
    limit
      (
        select
          $8::int
      )
  ) "rows";

-- comments_select_of_discussion
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "workspace_id" as "workspaceId",
      $1::text || "comments"."seed_id" || '#comment-' || "comments"."id" as "url",
      "seed_id" as "seedId",
      "evidence_id" as "evidenceId",
      "body" as "body",
      coalesce(
        (
          select
            json_agg(
              json_build_object('userId', "users"."id", 'name', "users"."name")
              order by
                "users"."id"
            )
          from
            "comment_mentions"
            join "users" on "users"."id" = "comment_mentions"."user_id"
          where
            "comment_mentions"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "mentions",
      case
        when position('](team:' in "comments"."body") = 0 then '[]'
        else coalesce(
          (
            select
              json_agg(
                json_build_object('teamId', "teams"."id", 'name', "teams"."name")
                order by
                  "teams"."id"
              )
            from
              "teams"
            where
              "teams"."workspace_id" = "comments"."workspace_id"
              and "teams"."id" in (
                select
                  found[1]::uuid
                from
                  regexp_matches("comments"."body", '\]\(team:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)', 'g') as found
              )
          ),
          '[]'
        )
      end as "teamMentions",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            "attachments"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "attachments",
      "author_user_id" as "authorUserId",
      "author_name" as "authorName",
      "agent_name" as "agentName",
      to_char("comments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("comments"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt",
      (
        select
          $2::text || "users"."image_key"
        from
          "memberships"
          join "users" on "users"."id" = "memberships"."user_id"
        where
          "memberships"."user_id" = "comments"."author_user_id"
          and "memberships"."workspace_id" = $3::uuid
      ) as "authorPicture"
    from
      "comments"
    where
      (
        (
          "comments"."workspace_id" = (
            select
              $4::uuid
          )
          and "comments"."seed_id" = $5
        )
        and "comments"."evidence_id" = $6
        and ("comments"."created_at", "comments"."id") > (
          (
            select
              $7::timestamptz
          ),
          (
            select
              $8::uuid
          )
        )
      )
    order by
      "comments"."created_at" asc,
      "comments"."id" asc
    limit
      (
        select
          $9::int
      )
  ) "rows";

-- comments_select_of_evidence
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "workspace_id" as "workspaceId",
      $1::text || "comments"."seed_id" || '#comment-' || "comments"."id" as "url",
      "seed_id" as "seedId",
      "evidence_id" as "evidenceId",
      "body" as "body",
      coalesce(
        (
          select
            json_agg(
              json_build_object('userId', "users"."id", 'name', "users"."name")
              order by
                "users"."id"
            )
          from
            "comment_mentions"
            join "users" on "users"."id" = "comment_mentions"."user_id"
          where
            "comment_mentions"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "mentions",
      case
        when position('](team:' in "comments"."body") = 0 then '[]'
        else coalesce(
          (
            select
              json_agg(
                json_build_object('teamId', "teams"."id", 'name', "teams"."name")
                order by
                  "teams"."id"
              )
            from
              "teams"
            where
              "teams"."workspace_id" = "comments"."workspace_id"
              and "teams"."id" in (
                select
                  found[1]::uuid
                from
                  regexp_matches("comments"."body", '\]\(team:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)', 'g') as found
              )
          ),
          '[]'
        )
      end as "teamMentions",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            "attachments"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "attachments",
      "author_user_id" as "authorUserId",
      "author_name" as "authorName",
      "agent_name" as "agentName",
      to_char("comments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("comments"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt"
    from
      "comments"
    where
      (
        (
          "comments"."workspace_id" = (
            select
              $2::uuid
          )
          and "comments"."seed_id" = $3
        )
        and "comments"."evidence_id" = $4
        and ("comments"."created_at", "comments"."id") > (
          (
            select
              $5::timestamptz
          ),
          (
            select
              $6::uuid
          )
        )
      )
    order by
      "comments"."created_at" asc,
      "comments"."id" asc
    limit
      (
        select
          $7::int
      )
  ) "rows";

-- comments_select_of_evidence_backward
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "workspace_id" as "workspaceId",
      $1::text || "comments"."seed_id" || '#comment-' || "comments"."id" as "url",
      "seed_id" as "seedId",
      "evidence_id" as "evidenceId",
      "body" as "body",
      coalesce(
        (
          select
            json_agg(
              json_build_object('userId', "users"."id", 'name', "users"."name")
              order by
                "users"."id"
            )
          from
            "comment_mentions"
            join "users" on "users"."id" = "comment_mentions"."user_id"
          where
            "comment_mentions"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "mentions",
      case
        when position('](team:' in "comments"."body") = 0 then '[]'
        else coalesce(
          (
            select
              json_agg(
                json_build_object('teamId', "teams"."id", 'name', "teams"."name")
                order by
                  "teams"."id"
              )
            from
              "teams"
            where
              "teams"."workspace_id" = "comments"."workspace_id"
              and "teams"."id" in (
                select
                  found[1]::uuid
                from
                  regexp_matches("comments"."body", '\]\(team:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)', 'g') as found
              )
          ),
          '[]'
        )
      end as "teamMentions",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            "attachments"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "attachments",
      "author_user_id" as "authorUserId",
      "author_name" as "authorName",
      "agent_name" as "agentName",
      to_char("comments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("comments"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt"
    from
      "comments"
    where
      (
        (
          "comments"."workspace_id" = (
            select
              $2::uuid
          )
          and "comments"."seed_id" = $3
        )
        and "comments"."evidence_id" = $4
        and ("comments"."created_at", "comments"."id") < (
          (
            select
              $5::timestamptz
          ),
          (
            select
              $6::uuid
          )
        )
      )
    order by
      "comments"."created_at" desc,
      "comments"."id" desc
    limit
      (
        select
          $7::int
      )
  ) "rows";

-- comments_select_of_seed
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "workspace_id" as "workspaceId",
      $1::text || "comments"."seed_id" || '#comment-' || "comments"."id" as "url",
      "seed_id" as "seedId",
      "evidence_id" as "evidenceId",
      "body" as "body",
      coalesce(
        (
          select
            json_agg(
              json_build_object('userId', "users"."id", 'name', "users"."name")
              order by
                "users"."id"
            )
          from
            "comment_mentions"
            join "users" on "users"."id" = "comment_mentions"."user_id"
          where
            "comment_mentions"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "mentions",
      case
        when position('](team:' in "comments"."body") = 0 then '[]'
        else coalesce(
          (
            select
              json_agg(
                json_build_object('teamId', "teams"."id", 'name', "teams"."name")
                order by
                  "teams"."id"
              )
            from
              "teams"
            where
              "teams"."workspace_id" = "comments"."workspace_id"
              and "teams"."id" in (
                select
                  found[1]::uuid
                from
                  regexp_matches("comments"."body", '\]\(team:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)', 'g') as found
              )
          ),
          '[]'
        )
      end as "teamMentions",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            "attachments"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "attachments",
      "author_user_id" as "authorUserId",
      "author_name" as "authorName",
      "agent_name" as "agentName",
      to_char("comments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("comments"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt"
    from
      "comments"
    where
      (
        (
          "comments"."workspace_id" = (
            select
              $2::uuid
          )
          and "comments"."seed_id" = $3
        )
        and ("comments"."created_at", "comments"."id") > (
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
      "comments"."created_at" asc,
      "comments"."id" asc
    limit
      (
        select
          $6::int
      )
  ) "rows";

-- comments_select_of_seed_backward
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "workspace_id" as "workspaceId",
      $1::text || "comments"."seed_id" || '#comment-' || "comments"."id" as "url",
      "seed_id" as "seedId",
      "evidence_id" as "evidenceId",
      "body" as "body",
      coalesce(
        (
          select
            json_agg(
              json_build_object('userId', "users"."id", 'name', "users"."name")
              order by
                "users"."id"
            )
          from
            "comment_mentions"
            join "users" on "users"."id" = "comment_mentions"."user_id"
          where
            "comment_mentions"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "mentions",
      case
        when position('](team:' in "comments"."body") = 0 then '[]'
        else coalesce(
          (
            select
              json_agg(
                json_build_object('teamId', "teams"."id", 'name', "teams"."name")
                order by
                  "teams"."id"
              )
            from
              "teams"
            where
              "teams"."workspace_id" = "comments"."workspace_id"
              and "teams"."id" in (
                select
                  found[1]::uuid
                from
                  regexp_matches("comments"."body", '\]\(team:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)', 'g') as found
              )
          ),
          '[]'
        )
      end as "teamMentions",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            "attachments"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "attachments",
      "author_user_id" as "authorUserId",
      "author_name" as "authorName",
      "agent_name" as "agentName",
      to_char("comments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("comments"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt"
    from
      "comments"
    where
      (
        (
          "comments"."workspace_id" = (
            select
              $2::uuid
          )
          and "comments"."seed_id" = $3
        )
        and ("comments"."created_at", "comments"."id") < (
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
      "comments"."created_at" desc,
      "comments"."id" desc
    limit
      (
        select
          $6::int
      )
  ) "rows";

-- comments_select_of_workspace
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "workspace_id" as "workspaceId",
      $1::text || "comments"."seed_id" || '#comment-' || "comments"."id" as "url",
      "seed_id" as "seedId",
      "evidence_id" as "evidenceId",
      "body" as "body",
      coalesce(
        (
          select
            json_agg(
              json_build_object('userId', "users"."id", 'name', "users"."name")
              order by
                "users"."id"
            )
          from
            "comment_mentions"
            join "users" on "users"."id" = "comment_mentions"."user_id"
          where
            "comment_mentions"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "mentions",
      case
        when position('](team:' in "comments"."body") = 0 then '[]'
        else coalesce(
          (
            select
              json_agg(
                json_build_object('teamId', "teams"."id", 'name', "teams"."name")
                order by
                  "teams"."id"
              )
            from
              "teams"
            where
              "teams"."workspace_id" = "comments"."workspace_id"
              and "teams"."id" in (
                select
                  found[1]::uuid
                from
                  regexp_matches("comments"."body", '\]\(team:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)', 'g') as found
              )
          ),
          '[]'
        )
      end as "teamMentions",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            "attachments"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "attachments",
      "author_user_id" as "authorUserId",
      "author_name" as "authorName",
      "agent_name" as "agentName",
      to_char("comments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("comments"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt"
    from
      (
        (
          select
            "comments".*
          from
            "comments"
          where
            (
              "comments"."workspace_id" = (
                select
                  $2::uuid
              )
              and ("comments"."created_at", "comments"."id") < (
                (
                  select
                    $3::timestamptz
                ),
                (
                  select
                    $4::uuid
                )
              )
              and (
                select
                  (
                    "seeds"."deleted_at" is null
                    and "seeds"."workspace_id" = (
                      select
                        $5::uuid
                    )
                  )
                from
                  "seeds"
                where
                  "seeds"."id" = "comments"."seed_id"
              )
            )
          order by
            "comments"."created_at" desc,
            "comments"."id" desc
          limit
            (
              select
                $6::int
            )
        )
      ) as "comments"
    order by
      "comments"."created_at" desc,
      "comments"."id" desc
    limit
      (
        select
          $7::int
      )
  ) "rows";

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
    lower("invites"."email") = lower($1)
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
    "readers",
    "actor_type",
    "actor_user_id",
    "actor_name",
    "grant_id",
    "api_key_id",
    "source",
    "target_type",
    "target_id",
    "summary",
    "data",
    "seed_id",
    "created_at",
    "position"
  )
values
  ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, default);

-- events_insert_in_each
insert into
  "events" (
    "id",
    "workspace_id",
    "type",
    "readers",
    "actor_type",
    "actor_user_id",
    "actor_name",
    "grant_id",
    "api_key_id",
    "source",
    "target_type",
    "target_id",
    "summary",
    "data",
    "seed_id",
    "created_at",
    "position"
  )
select
  told.id as "id",
  told.workspace_id as "workspace_id",
  $1::text as "type",
  $2::text as "readers",
  $3::text as "actor_type",
  $4::uuid as "actor_user_id",
  $5::text as "actor_name",
  $6::uuid as "grant_id",
  $7::uuid as "api_key_id",
  $8::text as "source",
  $9::text as "target_type",
  $10::uuid as "target_id",
  $11::text as "summary",
  $12::jsonb as "data",
  $13::uuid as "seed_id",
  $14::timestamptz as "created_at",
  null::bigint as "position"
from
  unnest(
    (
      select
        $15::uuid[]
    )::uuid[],
    (
      select
        $16::uuid[]
    )::uuid[]
  ) as told (id, workspace_id)
order by
  told.workspace_id;

-- events_select_changes
select
  found.text,
  found.count,
  found.positions,
  bounds.last,
  bounds.after,
  coalesce(
    (
      select
        "events"."id"
      from
        "events"
      where
        "events"."workspace_id" = (
          select
            $1::uuid
        )
        and "events"."position" = bounds.after
    ),
    (
      select
        "event_positions"."deleted_until_id"
      from
        "event_positions"
      where
        "event_positions"."workspace_id" = (
          select
            $2::uuid
        )
        and "event_positions"."deleted_until" = bounds.after
    )
  ),
  bounds.until,
  coalesce(
    (
      select
        "events"."id"
      from
        "events"
      where
        "events"."workspace_id" = (
          select
            $3::uuid
        )
        and "events"."position" = bounds.until
    ),
    (
      select
        "event_positions"."deleted_until_id"
      from
        "event_positions"
      where
        "event_positions"."workspace_id" = (
          select
            $4::uuid
        )
        and "event_positions"."deleted_until" = bounds.until
    )
  )
from
  (
    select
      asked.last,
      asked.after,
      least(asked.after + 1000, asked.last) as until
    from
      (
        select
          counted.last,
          greatest(
            coalesce(
              (
                select
                  $5::bigint
              ),
              counted.last
            ),
            counted.deleted
          ) as after
        from
          (
            select
              coalesce(max("event_positions"."last"), 0) as last,
              coalesce(max("event_positions"."deleted_until"), 0) as deleted
            from
              "event_positions"
            where
              "event_positions"."workspace_id" = (
                select
                  $6::uuid
              )
          ) as counted
      ) as asked
  ) as bounds
  cross join lateral (
    select
      coalesce(string_agg(page.item::text, E',\n'), '') as text,
      count(*)::int as count,
      coalesce(array_agg(page.position), '{}') as positions
    from
      (
        select
          (
            select
              row_to_json(item)
            from
              (
                select
                  "events"."id" as "id",
                  "events"."type" as "type",
                  "events"."actor_type" as "actorType",
                  "events"."actor_user_id" as "actorUserId",
                  "events"."actor_name" as "actorName",
                  "events"."grant_id" as "grantId",
                  "events"."api_key_id" as "apiKeyId",
                  "events"."source" as "source",
                  "events"."target_type" as "targetType",
                  "events"."target_id" as "targetId",
                  "events"."summary" as "summary",
                  "events"."data" as "data",
                  to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
                  "events"."workspace_id" as "workspaceId",
                  $7::text || "events"."seed_id" || case
                    when "events"."target_type" in ('comment', 'evidence') then '#' || "events"."target_type" || '-' || "events"."target_id"
                    else ''
                  end as "url"
              ) as item
          ) as item,
          "events"."position" as position
        from
          "events"
        where
          "events"."workspace_id" = (
            select
              $8::uuid
          )
          and "events"."position" > bounds.after
          and "events"."position" <= bounds.until
          and (
            "events"."readers" = 'everybody'
            or (
              "events"."readers" = 'managers'
              and (
                select
                  $9::boolean
              )
            )
            or (
              "events"."readers" = 'grantors'
              and (
                select
                  $10::uuid
              ) is null
            )
            or (
              "events"."readers" = 'grantors'
              and "events"."target_id" in (
                select
                  "agent_grants"."id"
                from
                  "agent_grants"
                where
                  "agent_grants"."workspace_id" = $11
                  and "agent_grants"."user_id" = $12
              )
            )
          )
          and (
            (
              select
                $13::text[]
            )::text[] is null
            or "events"."type" = any (
              (
                select
                  $14::text[]
              )::text[]
            )
          )
          and (
            (
              select
                $15::text[]
            )::text[] is null
            or "events"."type" <> all (
              (
                select
                  $16::text[]
              )::text[]
            )
          )
          and (
            (
              select
                $17::uuid
            ) is null
            or "events"."seed_id" = (
              select
                $18::uuid
            )
          )
          and (
            (
              select
                $19::uuid
            ) is null
            or "events"."grant_id" = (
              select
                $20::uuid
            )
          )
        order by
          "events"."position"
        limit
          (
            select
              $21::int
          )
      ) as page
  ) as found;

-- events_select_ended_watches
select
  asked.ordinal::int - 1
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
  ) with ordinality as asked (session_id, user_id, workspace_id, ordinal)
where
  not exists (
    select
    from
      "sessions"
    where
      "sessions"."id" = asked.session_id
      and "sessions"."expires_at" > now()
      and not exists (
        select
        from
          "users" as suspended
        where
          suspended.id = "sessions"."user_id"
          and suspended.suspended_at is not null
      )
  )
  or not exists (
    select
    from
      "memberships"
    where
      "memberships"."workspace_id" = asked.workspace_id
      and "memberships"."user_id" = asked.user_id
  );

-- events_select_followed
select
  least(
    coalesce(
      (
        select
          "event_positions"."last"
        from
          "event_positions"
        where
          "event_positions"."workspace_id" = (
            select
              $1::uuid
          )
      ),
      0
    ),
    (
      select
        $2::bigint
    ) + 1000
  ),
  (
    select
      coalesce(json_agg(json_build_array(changed.seed_id, changed.position)), '[]')
    from
      (
        select
          recent.seed_id,
          max(recent.position) as position
        from
          (
            select
              "events"."seed_id" as seed_id,
              "events"."position" as position
            from
              "events"
            where
              "events"."workspace_id" = (
                select
                  $3::uuid
              )
              and "events"."position" > (
                select
                  $4::bigint
              )
              and "events"."position" <= (
                select
                  $5::bigint
              ) + 1000
            offset
              0
          ) as recent
        where
          recent.seed_id = any (
            (
              select
                $6::uuid[]
            )::uuid[]
          )
        group by
          recent.seed_id
      ) as changed
  ),
  (
    select
      coalesce(json_agg(json_build_array(asked.grant_id, concat_ws(' ', newest.id, waiting.ids))), '[]')
    from
      unnest(
        (
          select
            $7::uuid[]
        )::uuid[],
        (
          select
            $8::uuid[]
        )::uuid[]
      ) as asked (user_id, grant_id)
      left join lateral (
        select
          "notifications"."id" as id
        from
          "notifications"
          left join "seeds" on "seeds"."id" = "notifications"."seed_id"
        where
          "notifications"."user_id" = asked.user_id
          and "notifications"."workspace_id" = (
            select
              $9::uuid
          )
          and "notifications"."kind" in ('mention', 'comment', 'evidence', 'status', 'asked_to_join', 'decision_due', 'agent_request')
          and "seeds"."deleted_at" is null
        order by
          "notifications"."created_at" desc,
          "notifications"."id" desc
        limit
          1
      ) as newest on true
      cross join lateral (
        select
          string_agg(
            "agent_requests"."id"::text,
            ' '
            order by
              "agent_requests"."created_at",
              "agent_requests"."id"
          ) as ids
        from
          "agent_requests"
        where
          "agent_requests"."grant_id" = asked.grant_id
          and "agent_requests"."state" = 'waiting'
          and not exists (
            select
            from
              "users" as suspended
            where
              suspended.id = "agent_requests"."asked_by_user_id"
              and suspended.suspended_at is not null
          )
      ) as waiting
  )
from
  (
    select
  ) as nothing;

-- events_select_positions
select
  "workspace_id",
  "last"
from
  "event_positions"
where
  "event_positions"."workspace_id" = any (
    (
      select
        $1::uuid[]
    )::uuid[]
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
      "data" as "data",
      to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      "workspace_id" as "workspaceId",
      $1::text || "events"."seed_id" || case
        when "events"."target_type" in ('comment', 'evidence') then '#' || "events"."target_type" || '-' || "events"."target_id"
        else ''
      end as "url"
    from
      "events"
    where
      (
        "events"."workspace_id" = (
          select
            $2::uuid
        )
        and ("events"."created_at", "events"."id") < (
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
      "events"."created_at" desc,
      "events"."id" desc
    limit
      (
        select
          $5::int
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
        "data" as "data",
        to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
        "workspace_id" as "workspaceId",
        $1::text || "events"."seed_id" || case
          when "events"."target_type" in ('comment', 'evidence') then '#' || "events"."target_type" || '-' || "events"."target_id"
          else ''
        end as "url"
      from
        "events"
      where
        (
          "events"."workspace_id" = (
            select
              $2::uuid
          )
          and ("events"."created_at", "events"."id") < (
            (
              select
                $3::timestamptz
            ),
            (
              select
                $4::uuid
            )
          )
          and (
            "events"."readers" = 'everybody'
            or "events"."readers" = 'managers'
          )
        )
      order by
        "events"."created_at" desc,
        "events"."id" desc
      limit
        (
          select
            $5::int
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
        "data" as "data",
        to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
        "workspace_id" as "workspaceId",
        $6::text || "events"."seed_id" || case
          when "events"."target_type" in ('comment', 'evidence') then '#' || "events"."target_type" || '-' || "events"."target_id"
          else ''
        end as "url"
      from
        "events"
      where
        (
          "events"."workspace_id" = (
            select
              $7::uuid
          )
          and ("events"."created_at", "events"."id") < (
            (
              select
                $8::timestamptz
            ),
            (
              select
                $9::uuid
            )
          )
          and "events"."readers" = 'grantors'
          and "events"."target_id" in (
            select
              "agent_grants"."id"
            from
              "agent_grants"
            where
              "agent_grants"."workspace_id" = $10
              and "agent_grants"."user_id" = $11
          )
        )
      order by
        "events"."created_at" desc,
        "events"."id" desc
      limit
        (
          select
            $12::int
        )
    )
    order by
      "createdAt" desc,
      "id" desc
    limit
      (
        select
          $13::int
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
      "data" as "data",
      to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      "workspace_id" as "workspaceId",
      $1::text || "events"."seed_id" || case
        when "events"."target_type" in ('comment', 'evidence') then '#' || "events"."target_type" || '-' || "events"."target_id"
        else ''
      end as "url"
    from
      "events"
    where
      (
        "events"."workspace_id" = (
          select
            $2::uuid
        )
        and ("events"."created_at", "events"."id") < (
          (
            select
              $3::timestamptz
          ),
          (
            select
              $4::uuid
          )
        )
        and (
          "events"."readers" = 'everybody'
          or "events"."readers" = 'grantors'
        )
      )
    order by
      "events"."created_at" desc,
      "events"."id" desc
    limit
      (
        select
          $5::int
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
        "data" as "data",
        to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
        "workspace_id" as "workspaceId",
        $1::text || "events"."seed_id" || case
          when "events"."target_type" in ('comment', 'evidence') then '#' || "events"."target_type" || '-' || "events"."target_id"
          else ''
        end as "url"
      from
        "events"
      where
        (
          "events"."workspace_id" = (
            select
              $2::uuid
          )
          and ("events"."created_at", "events"."id") < (
            (
              select
                $3::timestamptz
            ),
            (
              select
                $4::uuid
            )
          )
          and "events"."readers" = 'everybody'
        )
      order by
        "events"."created_at" desc,
        "events"."id" desc
      limit
        (
          select
            $5::int
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
        "data" as "data",
        to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
        "workspace_id" as "workspaceId",
        $6::text || "events"."seed_id" || case
          when "events"."target_type" in ('comment', 'evidence') then '#' || "events"."target_type" || '-' || "events"."target_id"
          else ''
        end as "url"
      from
        "events"
      where
        (
          "events"."workspace_id" = (
            select
              $7::uuid
          )
          and ("events"."created_at", "events"."id") < (
            (
              select
                $8::timestamptz
            ),
            (
              select
                $9::uuid
            )
          )
          and "events"."readers" = 'grantors'
          and "events"."target_id" in (
            select
              "agent_grants"."id"
            from
              "agent_grants"
            where
              "agent_grants"."workspace_id" = $10
              and "agent_grants"."user_id" = $11
          )
        )
      order by
        "events"."created_at" desc,
        "events"."id" desc
      limit
        (
          select
            $12::int
        )
    )
    order by
      "createdAt" desc,
      "id" desc
    limit
      (
        select
          $13::int
      )
  ) "rows";

-- evidence_correct
update "evidence"
set
  "kind" = $1,
  "verdict" = $2,
  "summary" = $3,
  "source_url" = $4,
  "criterion_ids" = $5::uuid[],
  "edited_at" = $6::timestamptz
where
  (
    "evidence"."workspace_id" = $7
    and "evidence"."id" = $8
  );

-- evidence_count_by_day
select
  to_char("created_at" at time zone 'UTC', 'YYYY-MM-DD') as "day",
  "verdict",
  count(*)::int
from
  "evidence"
where
  (
    (
      "evidence"."workspace_id" = (
        select
          $1::uuid
      )
      and "evidence"."seed_id" = $2
    )
    and "evidence"."withdrawn_at" is null
  )
group by
  day,
  "evidence"."verdict"
order by
  day;

-- evidence_insert
insert into
  "evidence" (
    "id",
    "workspace_id",
    "seed_id",
    "kind",
    "verdict",
    "summary",
    "source_url",
    "criterion_ids",
    "author_user_id",
    "author_name",
    "agent_name",
    "created_at",
    "edited_at",
    "withdrawn_at",
    "withdrawn_by_user_id",
    "withdrawn_by_name",
    "withdrawn_reason",
    "seen_by_count"
  )
values
  (
    $1,
    $2,
    $3,
    $4,
    $5,
    $6,
    $7,
    $8,
    $9,
    $10,
    $11,
    $12,
    default,
    default,
    default,
    default,
    default,
    default
  );

-- evidence_lock
select
  "id",
  "workspace_id",
  "seed_id",
  "kind",
  "verdict",
  "summary",
  "source_url",
  "criterion_ids",
  "author_user_id",
  "author_name",
  "agent_name",
  "created_at",
  "edited_at",
  "withdrawn_at",
  "withdrawn_by_user_id",
  "withdrawn_by_name",
  "withdrawn_reason",
  "seen_by_count"
from
  "evidence"
where
  (
    "evidence"."workspace_id" = $1
    and "evidence"."id" = $2
  )
for no key update;

-- evidence_lock_seen
select
  "seeds"."id",
  "seeds"."title",
  "evidence"."kind",
  "evidence"."verdict",
  "evidence"."author_user_id",
  "evidence"."withdrawn_at"
from
  "evidence"
  inner join "seeds" on (
    "seeds"."id" = "evidence"."seed_id"
    and "seeds"."deleted_at" is null
  )
where
  (
    "evidence"."workspace_id" = $1
    and "evidence"."id" = $2
  )
for no key update of
  "evidence";

-- evidence_seen_delete
delete from "evidence_seen"
where
  (
    "evidence_seen"."workspace_id" = $1
    and "evidence_seen"."evidence_id" = $2
    and "evidence_seen"."user_id" = $3
  );

-- evidence_seen_insert
insert into
  "evidence_seen" ("evidence_id", "user_id", "workspace_id", "seen_at")
values
  ($1, $2, $3, $4::timestamptz)
on conflict do nothing;

-- evidence_select
select
  "id",
  "workspace_id",
  "seed_id",
  "kind",
  "verdict",
  "summary",
  "source_url",
  "criterion_ids",
  "author_user_id",
  "author_name",
  "agent_name",
  "created_at",
  "edited_at",
  "withdrawn_at",
  "withdrawn_by_user_id",
  "withdrawn_by_name",
  "withdrawn_reason",
  "seen_by_count",
  coalesce(
    (
      select
        json_agg(
          json_build_object(
            'id',
            "attachments"."id",
            'workspaceId',
            "attachments"."workspace_id",
            'name',
            "attachments"."name",
            'type',
            "attachments"."type",
            'bytes',
            "attachments"."bytes",
            'width',
            "attachments"."width",
            'height',
            "attachments"."height",
            'createdByUserId',
            "attachments"."created_by_user_id",
            'createdAt',
            to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
          )
          order by
            "attachments"."position",
            "attachments"."id"
        )
      from
        "attachments"
      where
        "attachments"."evidence_id" = "evidence"."id"
    ),
    '[]'
  ) as "attachments",
  exists (
    select
    from
      "evidence_seen"
    where
      (
        "evidence_seen"."evidence_id" = "evidence"."id"
        and "evidence_seen"."user_id" = $1::uuid
      )
  ) as "seen_by_me"
from
  "evidence"
where
  (
    "evidence"."workspace_id" = $2
    and "evidence"."id" = $3
  );

-- evidence_select_all_of_seed
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "evidence"."id" as "id",
      "evidence"."workspace_id" as "workspaceId",
      "evidence"."seed_id" as "seedId",
      "evidence"."kind" as "kind",
      "evidence"."verdict" as "verdict",
      "evidence"."summary" as "summary",
      "evidence"."source_url" as "sourceUrl",
      "evidence"."criterion_ids" as "criterionIds",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            "attachments"."evidence_id" = "evidence"."id"
        ),
        '[]'
      ) as "attachments",
      "evidence"."seen_by_count" as "seenByCount",
      exists (
        select
        from
          "evidence_seen"
        where
          (
            "evidence_seen"."evidence_id" = "evidence"."id"
            and "evidence_seen"."user_id" = $1::uuid
          )
      ) as "seenByMe",
      "evidence"."author_user_id" as "authorUserId",
      "evidence"."author_name" as "authorName",
      "evidence"."agent_name" as "agentName",
      to_char("evidence"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("evidence"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt",
      to_char("evidence"."withdrawn_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "withdrawnAt",
      "evidence"."withdrawn_by_name" as "withdrawnByName",
      "evidence"."withdrawn_reason" as "withdrawnReason"
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
                (
                  "evidence"."workspace_id" = (
                    select
                      $2::uuid
                  )
                  and "evidence"."seed_id" = $3
                )
                and ("evidence"."created_at", "evidence"."id") < (
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
              "evidence"."created_at" desc,
              "evidence"."id" desc
            limit
              (
                select
                  $6::int
              )
          ) "page"
      ) "page_bytes"
      inner join "evidence" on "evidence"."id" = "page_bytes"."id"
    where
      "bytes_before" < $7
    order by
      "evidence"."created_at" desc,
      "evidence"."id" desc
  ) "rows";

-- evidence_select_by_criterion
select
  criterion.id,
  "evidence"."verdict",
  count(*)::int,
  to_json(
    (
      array_agg(
        json_build_object('id', "evidence"."id", 'summary', left("evidence"."summary", 200))
        order by
          "evidence"."created_at" desc,
          "evidence"."id" desc
      )
    ) [1:3]
  )
from
  "evidence"
  cross join unnest("evidence"."criterion_ids") as criterion (id)
where
  (
    (
      "evidence"."workspace_id" = (
        select
          $1::uuid
      )
      and "evidence"."seed_id" = $2
    )
    and "evidence"."withdrawn_at" is null
  )
group by
  criterion.id,
  "evidence"."verdict";

-- evidence_select_id_of_seed
select
  "id"
from
  "evidence"
where
  (
    (
      "evidence"."workspace_id" = $1
      and "evidence"."id" = $2
    )
    and "evidence"."seed_id" = $3
  );

-- evidence_select_of_seed
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "evidence"."id" as "id",
      "evidence"."workspace_id" as "workspaceId",
      "evidence"."seed_id" as "seedId",
      "evidence"."kind" as "kind",
      "evidence"."verdict" as "verdict",
      "evidence"."summary" as "summary",
      "evidence"."source_url" as "sourceUrl",
      "evidence"."criterion_ids" as "criterionIds",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            "attachments"."evidence_id" = "evidence"."id"
        ),
        '[]'
      ) as "attachments",
      "evidence"."seen_by_count" as "seenByCount",
      exists (
        select
        from
          "evidence_seen"
        where
          (
            "evidence_seen"."evidence_id" = "evidence"."id"
            and "evidence_seen"."user_id" = $1::uuid
          )
      ) as "seenByMe",
      "evidence"."author_user_id" as "authorUserId",
      "evidence"."author_name" as "authorName",
      "evidence"."agent_name" as "agentName",
      to_char("evidence"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("evidence"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt",
      to_char("evidence"."withdrawn_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "withdrawnAt",
      "evidence"."withdrawn_by_name" as "withdrawnByName",
      "evidence"."withdrawn_reason" as "withdrawnReason"
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
                (
                  (
                    "evidence"."workspace_id" = (
                      select
                        $2::uuid
                    )
                    and "evidence"."seed_id" = $3
                  )
                  and "evidence"."withdrawn_at" is null
                )
                and ("evidence"."created_at", "evidence"."id") < (
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
              "evidence"."created_at" desc,
              "evidence"."id" desc
            limit
              (
                select
                  $6::int
              )
          ) "page"
      ) "page_bytes"
      inner join "evidence" on "evidence"."id" = "page_bytes"."id"
    where
      "bytes_before" < $7
    order by
      "evidence"."created_at" desc,
      "evidence"."id" desc
  ) "rows";

-- evidence_select_of_thread
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "evidence"."id" as "id",
      "evidence"."workspace_id" as "workspaceId",
      "evidence"."seed_id" as "seedId",
      "evidence"."kind" as "kind",
      "evidence"."verdict" as "verdict",
      "evidence"."summary" as "summary",
      "evidence"."source_url" as "sourceUrl",
      "evidence"."criterion_ids" as "criterionIds",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            "attachments"."evidence_id" = "evidence"."id"
        ),
        '[]'
      ) as "attachments",
      "evidence"."seen_by_count" as "seenByCount",
      exists (
        select
        from
          "evidence_seen"
        where
          (
            "evidence_seen"."evidence_id" = "evidence"."id"
            and "evidence_seen"."user_id" = $1::uuid
          )
      ) as "seenByMe",
      "evidence"."author_user_id" as "authorUserId",
      "evidence"."author_name" as "authorName",
      "evidence"."agent_name" as "agentName",
      to_char("evidence"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("evidence"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt",
      to_char("evidence"."withdrawn_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "withdrawnAt",
      "evidence"."withdrawn_by_name" as "withdrawnByName",
      "evidence"."withdrawn_reason" as "withdrawnReason",
      (
        select
          $2::text || "users"."image_key"
        from
          "memberships"
          join "users" on "users"."id" = "memberships"."user_id"
        where
          "memberships"."user_id" = "evidence"."author_user_id"
          and "memberships"."workspace_id" = $3::uuid
      ) as "authorPicture",
      (
        select
          coalesce(
            json_agg(
              json_build_object('userId', seer.user_id, 'name', "users"."name")
              order by
                seer.seen_at,
                seer.user_id
            ),
            '[]'
          )
        from
          (
            select
              "evidence_seen"."user_id",
              "evidence_seen"."seen_at"
            from
              "evidence_seen"
            where
              "evidence_seen"."evidence_id" = "evidence"."id"
              and "evidence_seen"."user_id" <> $4::uuid
            order by
              "evidence_seen"."seen_at",
              "evidence_seen"."user_id"
            limit
              3
          ) as seer
          join "users" on "users"."id" = seer.user_id
      ) as "seenBy",
      json_build_object(
        'total',
        (
          select
            count(*)::int
          from
            "comments"
          where
            "comments"."evidence_id" = "evidence"."id"
        ),
        'comments',
        (
          select
            coalesce(
              json_agg(
                row_to_json("first")
                order by
                  "first"."createdAt",
                  "first"."id"
              ),
              '[]'
            )
          from
            (
              select
                "id" as "id",
                "workspace_id" as "workspaceId",
                $5::text || "comments"."seed_id" || '#comment-' || "comments"."id" as "url",
                "seed_id" as "seedId",
                "evidence_id" as "evidenceId",
                "body" as "body",
                coalesce(
                  (
                    select
                      json_agg(
                        json_build_object('userId', "users"."id", 'name', "users"."name")
                        order by
                          "users"."id"
                      )
                    from
                      "comment_mentions"
                      join "users" on "users"."id" = "comment_mentions"."user_id"
                    where
                      "comment_mentions"."comment_id" = "comments"."id"
                  ),
                  '[]'
                ) as "mentions",
                case
                  when position('](team:' in "comments"."body") = 0 then '[]'
                  else coalesce(
                    (
                      select
                        json_agg(
                          json_build_object('teamId', "teams"."id", 'name', "teams"."name")
                          order by
                            "teams"."id"
                        )
                      from
                        "teams"
                      where
                        "teams"."workspace_id" = "comments"."workspace_id"
                        and "teams"."id" in (
                          select
                            found[1]::uuid
                          from
                            regexp_matches("comments"."body", '\]\(team:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)', 'g') as found
                        )
                    ),
                    '[]'
                  )
                end as "teamMentions",
                coalesce(
                  (
                    select
                      json_agg(
                        json_build_object(
                          'id',
                          "attachments"."id",
                          'workspaceId',
                          "attachments"."workspace_id",
                          'name',
                          "attachments"."name",
                          'type',
                          "attachments"."type",
                          'bytes',
                          "attachments"."bytes",
                          'width',
                          "attachments"."width",
                          'height',
                          "attachments"."height",
                          'createdByUserId',
                          "attachments"."created_by_user_id",
                          'createdAt',
                          to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
                        )
                        order by
                          "attachments"."position",
                          "attachments"."id"
                      )
                    from
                      "attachments"
                    where
                      "attachments"."comment_id" = "comments"."id"
                  ),
                  '[]'
                ) as "attachments",
                "author_user_id" as "authorUserId",
                "author_name" as "authorName",
                "agent_name" as "agentName",
                to_char("comments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
                to_char("comments"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt",
                (
                  select
                    $6::text || "users"."image_key"
                  from
                    "memberships"
                    join "users" on "users"."id" = "memberships"."user_id"
                  where
                    "memberships"."user_id" = "comments"."author_user_id"
                    and "memberships"."workspace_id" = $7::uuid
                ) as "authorPicture"
              from
                "comments"
              where
                "comments"."evidence_id" = "evidence"."id"
              order by
                "comments"."created_at" asc,
                "comments"."id" asc
              limit
                3
            ) "first"
        )
      ) as "discussion"
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
                (
                  "evidence"."workspace_id" = (
                    select
                      $8::uuid
                  )
                  and "evidence"."seed_id" = $9
                )
                and ("evidence"."created_at", "evidence"."id") < (
                  (
                    select
                      $10::timestamptz
                  ),
                  (
                    select
                      $11::uuid
                  )
                )
              )
            order by
              "evidence"."created_at" desc,
              "evidence"."id" desc
            limit
              (
                select
                  $12::int
              )
          ) "page"
      ) "page_bytes"
      inner join "evidence" on "evidence"."id" = "page_bytes"."id"
    where
      "bytes_before" < $13
    order by
      "evidence"."created_at" desc,
      "evidence"."id" desc
  ) "rows";

-- evidence_select_piece
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "workspace_id" as "workspaceId",
      "seed_id" as "seedId",
      "kind" as "kind",
      "verdict" as "verdict",
      "summary" as "summary",
      "source_url" as "sourceUrl",
      "criterion_ids" as "criterionIds",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            "attachments"."evidence_id" = "evidence"."id"
        ),
        '[]'
      ) as "attachments",
      "seen_by_count" as "seenByCount",
      exists (
        select
        from
          "evidence_seen"
        where
          (
            "evidence_seen"."evidence_id" = "evidence"."id"
            and "evidence_seen"."user_id" = $1::uuid
          )
      ) as "seenByMe",
      "author_user_id" as "authorUserId",
      "author_name" as "authorName",
      "agent_name" as "agentName",
      to_char("evidence"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("evidence"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt",
      to_char("evidence"."withdrawn_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "withdrawnAt",
      "withdrawn_by_name" as "withdrawnByName",
      "withdrawn_reason" as "withdrawnReason",
      (
        select
          $2::text || "users"."image_key"
        from
          "memberships"
          join "users" on "users"."id" = "memberships"."user_id"
        where
          "memberships"."user_id" = "evidence"."author_user_id"
          and "memberships"."workspace_id" = $3::uuid
      ) as "authorPicture",
      (
        select
          coalesce(
            json_agg(
              json_build_object('userId', seer.user_id, 'name', "users"."name")
              order by
                seer.seen_at,
                seer.user_id
            ),
            '[]'
          )
        from
          (
            select
              "evidence_seen"."user_id",
              "evidence_seen"."seen_at"
            from
              "evidence_seen"
            where
              "evidence_seen"."evidence_id" = "evidence"."id"
              and "evidence_seen"."user_id" <> $4::uuid
            order by
              "evidence_seen"."seen_at",
              "evidence_seen"."user_id"
            limit
              200
          ) as seer
          join "users" on "users"."id" = seer.user_id
      ) as "seenBy"
    from
      "evidence"
    where
      (
        (
          "evidence"."workspace_id" = $5
          and "evidence"."id" = $6
        )
        and "evidence"."seed_id" = $7
      )
  ) "rows";

-- evidence_withdraw
update "evidence"
set
  "withdrawn_at" = $1::timestamptz,
  "withdrawn_by_user_id" = $2::uuid,
  "withdrawn_by_name" = $3,
  "withdrawn_reason" = $4
where
  (
    "evidence"."workspace_id" = $5
    and "evidence"."id" = $6
  );

-- invite_teams_insert
insert into
  "invite_teams" ("invite_id", "team_id", "workspace_id")
select
  $1::uuid as "invite_id",
  "id",
  "workspace_id"
from
  "teams"
where
  (
    "teams"."workspace_id" = $2
    and "teams"."id" = any ($3::uuid[])
  );

-- invite_teams_lock
select
  "teams"."id"
from
  "invite_teams"
  inner join "teams" on (
    "teams"."workspace_id" = "invite_teams"."workspace_id"
    and "teams"."id" = "invite_teams"."team_id"
  )
where
  (
    "invite_teams"."invite_id" = $1
    and "teams"."workspace_id" = $2
  )
order by
  "teams"."id" asc
for key share of
  "teams";

-- invite_tokens_insert
insert into
  "invite_tokens" ("token_hash", "invite_id", "is_mailed")
values
  ($1, $2, $3);

-- invites_close
update "invites"
set
  "state" = $1
where
  (
    "invites"."workspace_id" = $2
    and "invites"."id" = $3
  );

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
    "last_sent_at",
    "resent_at",
    "refused_at"
  )
values
  ($1, $2, $3, $4, $5, $6, $7, $8, $9, default, default, default);

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

-- invites_select
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "invites"."id" as "id",
      "invites"."email" as "email",
      "invites"."role" as "role",
      case "invites"."state"
        when 'open' then case
          when "invites"."expires_at" <= $1 then 'expired'
          else 'pending'
        end
        when 'replaced' then 'expired'
        else "invites"."state"
      end as "status",
      "invites"."invited_by_user_id" as "invitedByUserId",
      "users"."name" as "invitedByName",
      to_char("invites"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("invites"."expires_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "expiresAt",
      to_char("invites"."last_sent_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastSentAt",
      case
        when "invites"."refused_at" >= coalesce("invites"."last_sent_at", '-infinity') then 'refused'
        when "invites"."last_sent_at" is null
        or "invites"."last_sent_at" < "invites"."resent_at" then 'waiting'
        else 'sent'
      end as "delivery"
    from
      "invites"
      inner join "users" on "users"."id" = "invites"."invited_by_user_id"
    where
      (
        "invites"."id" = $2
        and "invites"."workspace_id" = $3
      )
  ) "rows";

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
  inner join "workspaces" on (
    "workspaces"."id" = "invites"."workspace_id"
    and "workspaces"."deleted_at" is null
  )
  inner join "users" on "users"."id" = "invites"."invited_by_user_id"
where
  "invite_tokens"."token_hash" = $1;

-- invites_select_of_person
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
              "workspaces"."name" as "workspaceName",
              "workspaces"."slug" as "workspaceSlug",
              $1::text || "workspaces"."icon_key" as "workspaceIconUrl",
              "invites"."role" as "role",
              "users"."name" as "invitedByName",
              to_char("invites"."expires_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "expiresAt"
          ) as item
      ) as "item",
      "invites"."created_at",
      "invites"."id"
    from
      "invites"
      inner join "workspaces" on (
        "workspaces"."id" = "invites"."workspace_id"
        and "workspaces"."deleted_at" is null
      )
      inner join "users" on (
        "users"."id" = "invites"."invited_by_user_id"
        and "users"."suspended_at" is null
      )
      inner join "memberships" "inviters" on (
        "inviters"."workspace_id" = "invites"."workspace_id"
        and "inviters"."user_id" = "invites"."invited_by_user_id"
      )
      left join "memberships" on (
        "memberships"."workspace_id" = "invites"."workspace_id"
        and "memberships"."user_id" = $2
      )
    where
      (
        "invites"."canonical_email" = $3
        and "invites"."state" = 'open'
        and "invites"."expires_at" > $4
        and "memberships"."user_id" is null
        and ("inviters"."role", "invites"."role") in (
          ('owner', 'owner'),
          ('owner', 'admin'),
          ('owner', 'member'),
          ('owner', 'viewer'),
          ('admin', 'admin'),
          ('admin', 'member'),
          ('admin', 'viewer')
        )
        and (
          (
            select
              $5::text
          ) is null
          or "invites"."workspace_id" = any (
            (
              select
                $6::text
            )::uuid[]
          )
        )
        and ("invites"."created_at", "invites"."id") < (
          (
            select
              $7::timestamptz
          ),
          (
            select
              $8::uuid
          )
        )
      )
    order by
      "invites"."created_at" desc,
      "invites"."id" desc
    limit
      (
        select
          $9::int
      )
  ) "rows";

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
      to_char("invites"."last_sent_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastSentAt",
      case
        when "invites"."refused_at" >= coalesce("invites"."last_sent_at", '-infinity') then 'refused'
        when "invites"."last_sent_at" is null
        or "invites"."last_sent_at" < "invites"."resent_at" then 'waiting'
        else 'sent'
      end as "delivery"
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
  inner join "workspaces" on (
    "workspaces"."id" = "invites"."workspace_id"
    and "workspaces"."deleted_at" is null
  )
  inner join "users" on "users"."id" = "invites"."invited_by_user_id"
where
  (
    "invites"."id" = $1
    and "invites"."canonical_email" = $2
  );

-- invites_select_to_send
select
  "invites"."workspace_id",
  "invites"."email",
  "invites"."role",
  "workspaces"."name",
  "users"."name",
  "invites"."expires_at"
from
  "invites"
  inner join "workspaces" on (
    "workspaces"."id" = "invites"."workspace_id"
    and "workspaces"."deleted_at" is null
  )
  inner join "users" on (
    "users"."id" = "invites"."invited_by_user_id"
    and "users"."suspended_at" is null
  )
where
  (
    "invites"."id" = $1
    and "invites"."state" = 'open'
    and "invites"."expires_at" > $2
  );

-- invites_update_sent
update "invites"
set
  "last_sent_at" = $1::timestamptz,
  "refused_at" = $2
where
  (
    "invites"."workspace_id" = $3
    and "invites"."id" = $4
  );

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

-- kit_select_discussion
select
  (
    select
      coalesce(json_agg(newest), '[]')
    from
      (
        select
          "id" as "id",
          "evidence_id" as "evidenceId",
          "body" as "body",
          coalesce(
            (
              select
                json_agg(
                  json_build_object('userId', "users"."id", 'name', "users"."name")
                  order by
                    "users"."id"
                )
              from
                "comment_mentions"
                join "users" on "users"."id" = "comment_mentions"."user_id"
              where
                "comment_mentions"."comment_id" = "comments"."id"
            ),
            '[]'
          ) as "mentions",
          "author_user_id" as "authorUserId",
          "author_name" as "authorName",
          "agent_name" as "agentName",
          to_char("comments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
        from
          "comments"
        where
          (
            "comments"."workspace_id" = (
              select
                $1::uuid
            )
            and "comments"."seed_id" = $2
          )
        order by
          "comments"."created_at" desc,
          "comments"."id" desc
        limit
          $3
      ) "newest"
  ) as "comments",
  (
    select
      count(*)::int
    from
      "comments"
    where
      (
        "comments"."workspace_id" = (
          select
            $4::uuid
        )
        and "comments"."seed_id" = $5
      )
  ) as "comment_count",
  (
    select
      coalesce(json_agg(first), '[]')
    from
      (
        select
          "seed_participants"."user_id" as "userId",
          "users"."name" as "name"
        from
          "seed_participants"
          inner join "users" on "users"."id" = "seed_participants"."user_id"
        where
          (
            "seed_participants"."workspace_id" = (
              select
                $6::uuid
            )
            and "seed_participants"."seed_id" = $7
          )
        order by
          "seed_participants"."joined_at" asc,
          "seed_participants"."user_id" asc
        limit
          $8
      ) "first"
  ) as "participants",
  (
    select
      coalesce(json_agg(files), '[]')
    from
      (
        select
          "id" as "id",
          "name" as "name",
          "type" as "type",
          "bytes" as "bytes",
          "evidence_id" as "evidenceId",
          "comment_id" as "commentId"
        from
          "attachments"
        where
          (
            "attachments"."workspace_id" = (
              select
                $9::uuid
            )
            and "attachments"."seed_id" = $10
          )
        order by
          "attachments"."created_at" desc,
          "attachments"."id" desc
        limit
          $11
      ) "files"
  ) as "attachments"
from
  (
    select
  ) as nothing;

-- labels_select_choices
select
  (
    select
      coalesce(json_agg(json_build_object('id', named.id, 'name', named.name)), '[]')
    from
      (
        select
          "teams"."id",
          "teams"."name"
        from
          "teams"
        where
          "teams"."workspace_id" = $1
        order by
          "teams"."created_at",
          "teams"."id"
        limit
          200
      ) as named
  ) as "teams",
  (
    select
      coalesce(json_agg(json_build_object('id', named.id, 'name', named.name)), '[]')
    from
      (
        select
          "labels"."id",
          "labels"."name"
        from
          "labels"
        where
          "labels"."workspace_id" = $2
        order by
          "labels"."created_at",
          "labels"."id"
        limit
          200
      ) as named
  ) as "labels"
from
  (
    values
      (0)
  ) as choices;

-- labels_select_of_workspace
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "workspace_id" as "workspaceId",
      "name" as "name",
      to_char("labels"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"
    from
      "labels"
    where
      (
        "labels"."workspace_id" = $1
        and ("labels"."created_at", "labels"."id") > (
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
      "labels"."created_at" asc,
      "labels"."id" asc
    limit
      (
        select
          $4::int
      )
  ) "rows";

-- memberships_count_of_user
select
  count(*)
from
  "memberships"
where
  "memberships"."user_id" = $1;

-- memberships_insert_if_new
insert into
  "memberships" ("workspace_id", "user_id", "role", "joined_at", "last_used_at", "last_activity_at")
values
  ($1, $2, $3, $4, $5, default)
on conflict do nothing;

-- memberships_keep
select
  "user_id"
from
  "memberships"
where
  (
    "memberships"."workspace_id" = $1
    and "memberships"."user_id" = $2
  )
for key share;

-- memberships_lock_among
select
  "users"."id",
  "users"."name"
from
  "memberships"
  inner join "users" on "users"."id" = "memberships"."user_id"
where
  (
    "memberships"."workspace_id" = (
      select
        $1::uuid
    )
    and "memberships"."user_id" = any (
      (
        select
          $2::uuid[]
      )::uuid[]
    )
    and "users"."kind" = $3
    and (
      "users"."suspended_at" is null
      or exists (
        select
        from
          "comment_mentions"
        where
          "comment_mentions"."comment_id" = (
            select
              $4::uuid
          )
          and "comment_mentions"."user_id" = "users"."id"
      )
    )
  )
order by
  "users"."id" asc
for key share of
  "users",
  "memberships";

-- memberships_lock_of_user
select
  "memberships"."workspace_id"
from
  "memberships"
  inner join "workspaces" on (
    "workspaces"."id" = "memberships"."workspace_id"
    and "workspaces"."deleted_at" is null
  )
where
  (
    "memberships"."user_id" = $1
    and "memberships"."workspace_id" > $2
  )
order by
  "memberships"."workspace_id" asc
limit
  $3
for key share of
  "memberships";

-- memberships_select
select
  "memberships"."role",
  "users"."name",
  "users"."kind",
  "users"."suspended_at" is not null as "is_suspended"
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
  inner join "workspaces" on (
    "workspaces"."id" = "memberships"."workspace_id"
    and "workspaces"."deleted_at" is null
  )
where
  (
    "memberships"."user_id" = $1
    and (
      (
        select
          $2::text
      ) is null
      or "memberships"."workspace_id" = any (
        (
          select
            $3::text
        )::uuid[]
      )
    )
  )
order by
  "memberships"."last_used_at" desc,
  "memberships"."joined_at" desc,
  "memberships"."workspace_id" desc
limit
  (
    select
      $4::int
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
    )::uuid[],
    (
      select
        $2::text[]
    )::text[]
  ) with ordinality as asked (user_id, workspace_ids, ordinal)
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
          $3::text || "workspaces"."icon_key" as "iconUrl",
          "memberships"."role" as "role"
        from
          "memberships"
          inner join "workspaces" on (
            "workspaces"."id" = "memberships"."workspace_id"
            and "workspaces"."deleted_at" is null
          )
        where
          (
            "memberships"."user_id" = asked.user_id
            and (
              asked.workspace_ids is null
              or "memberships"."workspace_id" = any (asked.workspace_ids::uuid[])
            )
          )
        order by
          "memberships"."last_used_at" desc,
          "memberships"."joined_at" desc,
          "memberships"."workspace_id" desc
        limit
          (
            select
              $4::int
          )
      ) "rows"
  ) "list"
order by
  asked.ordinal;

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
      "users"."kind" as "kind",
      ("users"."suspended_at" is not null) as "suspended",
      to_char("memberships"."joined_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "joinedAt",
      to_char("memberships"."last_activity_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastActivityAt"
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

-- memberships_select_shown
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
      "users"."kind" as "kind",
      ("users"."suspended_at" is not null) as "suspended",
      to_char("memberships"."joined_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "joinedAt",
      to_char("memberships"."last_activity_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastActivityAt"
    from
      "memberships"
      inner join "users" on "users"."id" = "memberships"."user_id"
    where
      (
        "memberships"."workspace_id" = $2
        and "memberships"."user_id" = $3
      )
  ) "rows";

-- memberships_select_some_of_user
select
  "workspace_id"
from
  "memberships"
where
  (
    "memberships"."user_id" = $1
    and "memberships"."workspace_id" = any (
      (
        select
          $2::uuid[]
      )::uuid[]
    )
  );

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

-- notifications_count_unread
select
  (
    select
      count(*)::int
    from
      (
        select
        from
          "notifications"
          left join "seeds" on "seeds"."id" = "notifications"."seed_id"
        where
          (
            "notifications"."user_id" = (
              select
                $1::uuid
            )
            and (
              "notifications"."user_id" = (
                select
                  $2::uuid
              )
              and (
                $3::uuid[] is null
                or "notifications"."workspace_id" = any ($4::uuid[])
              )
              and "notifications"."kind" = any ($5::text[])
            )
            and "notifications"."read_at" is null
            and "seeds"."deleted_at" is null
          )
        limit
          100
      ) as unread
  ) as "unread_count"
from
  (
    select
  ) as nothing;

-- notifications_delete_asked
delete from "notifications"
where
  (
    (
      "notifications"."workspace_id" = $1
      and "notifications"."seed_id" = $2
      and "notifications"."user_id" = $3
    )
    and "notifications"."kind" = 'asked_to_join'
  );

-- notifications_delete_asked_of_seed
delete from "notifications"
where
  (
    (
      "notifications"."workspace_id" = (
        select
          $1::uuid
      )
      and "notifications"."seed_id" = $2
    )
    and "notifications"."kind" = 'asked_to_join'
  );

-- notifications_insert_for_followers
insert into
  "notifications" (
    "user_id",
    "id",
    "workspace_id",
    "kind",
    "seed_id",
    "comment_id",
    "actor_user_id",
    "actor_name",
    "agent_name",
    "data",
    "created_at",
    "read_at",
    "mailed_at"
  )
select
  "seed_followers"."user_id" as "user_id",
  $1::uuid as "id",
  "memberships"."workspace_id" as "workspace_id",
  $2::text as "kind",
  $3::uuid as "seed_id",
  $4::uuid as "comment_id",
  $5::uuid as "actor_user_id",
  $6::text as "actor_name",
  $7::text as "agent_name",
  $8::jsonb as "data",
  $9::timestamptz as "created_at",
  null::timestamptz as "read_at",
  $10::timestamptz as "mailed_at"
from
  "seed_followers"
  inner join "memberships" on (
    "memberships"."workspace_id" = "seed_followers"."workspace_id"
    and "memberships"."user_id" = "seed_followers"."user_id"
  )
where
  (
    (
      select
        "users"."kind"
      from
        "users"
      where
        "users"."id" = "memberships"."user_id"
    ) = 'person'
    and "seed_followers"."seed_id" = $11::uuid
    and "seed_followers"."user_id" is distinct from $12::uuid
    and "seed_followers"."user_id" <> all ($13::uuid[])
  )
for key share of
  "memberships";

-- notifications_insert_for_managers
insert into
  "notifications" (
    "user_id",
    "id",
    "workspace_id",
    "kind",
    "seed_id",
    "comment_id",
    "actor_user_id",
    "actor_name",
    "agent_name",
    "data",
    "created_at",
    "read_at",
    "mailed_at"
  )
select
  "user_id" as "user_id",
  $1::uuid as "id",
  "workspace_id" as "workspace_id",
  $2::text as "kind",
  $3::uuid as "seed_id",
  $4::uuid as "comment_id",
  $5::uuid as "actor_user_id",
  $6::text as "actor_name",
  $7::text as "agent_name",
  $8::jsonb as "data",
  $9::timestamptz as "created_at",
  null::timestamptz as "read_at",
  $10::timestamptz as "mailed_at"
from
  "memberships"
where
  (
    "memberships"."workspace_id" = (
      select
        $11::uuid
    )
    and "memberships"."role" in ('owner', 'admin')
    and (
      select
        "users"."kind"
      from
        "users"
      where
        "users"."id" = "memberships"."user_id"
    ) = 'person'
    and "memberships"."user_id" is distinct from $12::uuid
  )
for key share;

-- notifications_insert_for_members
insert into
  "notifications" (
    "user_id",
    "id",
    "workspace_id",
    "kind",
    "seed_id",
    "comment_id",
    "actor_user_id",
    "actor_name",
    "agent_name",
    "data",
    "created_at",
    "read_at",
    "mailed_at"
  )
select
  "user_id" as "user_id",
  $1::uuid as "id",
  "workspace_id" as "workspace_id",
  $2::text as "kind",
  $3::uuid as "seed_id",
  $4::uuid as "comment_id",
  $5::uuid as "actor_user_id",
  $6::text as "actor_name",
  $7::text as "agent_name",
  $8::jsonb as "data",
  $9::timestamptz as "created_at",
  null::timestamptz as "read_at",
  $10::timestamptz as "mailed_at"
from
  "memberships"
where
  (
    "memberships"."workspace_id" = (
      select
        $11::uuid
    )
    and "memberships"."user_id" = any (
      (
        select
          $12::uuid[]
      )::uuid[]
    )
    and "memberships"."user_id" is distinct from $13::uuid
    and (
      select
        "users"."kind"
      from
        "users"
      where
        "users"."id" = "memberships"."user_id"
    ) = 'person'
    and not exists (
      select
      from
        "users"
      where
        "users"."id" = "memberships"."user_id"
        and case (
            select
              $14::text
          )
          when 'invite_accepted' then "users"."notify_accepted_invites" = 'off'
          when 'agent_asked' then "users"."notify_agent_requests" = 'off'
          when 'agent' then "users"."notify_agents" = 'off'
          and (
            select
              $15::text
          )::jsonb ->> 'reason' not in ('reused', 'given')
          else false
        end
    )
  )
for key share;

-- notifications_insert_reminders
insert into
  "notifications" (
    "user_id",
    "id",
    "workspace_id",
    "kind",
    "seed_id",
    "comment_id",
    "actor_user_id",
    "actor_name",
    "agent_name",
    "data",
    "created_at",
    "read_at",
    "mailed_at"
  )
select
  "memberships"."user_id" as "user_id",
  people.notice_id as "id",
  "memberships"."workspace_id" as "workspace_id",
  'decision_due' as "kind",
  people.seed_id as "seed_id",
  null::uuid as "comment_id",
  null::uuid as "actor_user_id",
  $1::text as "actor_name",
  null::text as "agent_name",
  jsonb_build_object('decideBy', to_char(people.decide_by, 'YYYY-MM-DD')) as "data",
  $2::timestamptz as "created_at",
  null::timestamptz as "read_at",
  null::timestamptz as "mailed_at"
from
  (
    select
      asked.seed_id,
      asked.notice_id,
      "seeds"."workspace_id" as workspace_id,
      "seeds"."decide_by" as decide_by,
      concerned.user_id
    from
      unnest(
        (
          select
            $3::uuid[]
        )::uuid[],
        (
          select
            $4::uuid[]
        )::uuid[]
      ) as asked (seed_id, notice_id)
      join "seeds" on "seeds"."id" = asked.seed_id
      cross join lateral (
        select
          "seeds"."lead_user_id" as user_id
        where
          "seeds"."lead_user_id" is not null
        union
        select
          "seed_followers"."user_id"
        from
          "seed_followers"
        where
          "seed_followers"."seed_id" = asked.seed_id
      ) as concerned
  ) as people
  inner join "memberships" on "memberships"."workspace_id" = people.workspace_id
  and "memberships"."user_id" = people.user_id
  inner join "users" on "users"."id" = "memberships"."user_id"
where
  "users"."kind" = 'person'
  and "users"."suspended_at" is null
  and "users"."notify_decisions" <> 'off'
  and not exists (
    select
    from
      "notifications"
    where
      "notifications"."seed_id" = people.seed_id
      and "notifications"."user_id" = people.user_id
      and "notifications"."kind" = 'decision_due'
      and "notifications"."data" ->> 'decideBy' = to_char(people.decide_by, 'YYYY-MM-DD')
  )
for key share of
  "memberships";

-- notifications_lock_preferences
select
  "notify_mentions",
  "notify_digest",
  "notify_role_changes",
  "notify_accepted_invites",
  "notify_agents",
  "notify_agent_requests",
  "notify_decisions"
from
  "users"
where
  "users"."id" = $1
for no key update;

-- notifications_mark_read
update "notifications"
set
  "read_at" = $1
where
  (
    (
      "notifications"."user_id" = (
        select
          $2::uuid
      )
      and (
        $3::uuid[] is null
        or "notifications"."workspace_id" = any ($4::uuid[])
      )
      and "notifications"."kind" = any ($5::text[])
    )
    and "notifications"."read_at" is null
    and "notifications"."id" = any ($6::uuid[])
  );

-- notifications_mark_read_until
update "notifications"
set
  "read_at" = $1
where
  (
    (
      "notifications"."user_id" = (
        select
          $2::uuid
      )
      and (
        $3::uuid[] is null
        or "notifications"."workspace_id" = any ($4::uuid[])
      )
      and "notifications"."kind" = any ($5::text[])
    )
    and "notifications"."read_at" is null
    and "notifications"."created_at" <= $6::timestamptz
  );

-- notifications_mark_unread
update "notifications"
set
  "read_at" = $1
where
  (
    (
      "notifications"."user_id" = (
        select
          $2::uuid
      )
      and (
        $3::uuid[] is null
        or "notifications"."workspace_id" = any ($4::uuid[])
      )
      and "notifications"."kind" = any ($5::text[])
    )
    and "notifications"."read_at" is not null
    and "notifications"."id" = any ($6::uuid[])
  );

-- notifications_select
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "notifications"."id" as "id",
      "notifications"."kind" as "kind",
      "notifications"."data" as "data",
      "workspaces"."slug" as "workspaceSlug",
      "workspaces"."name" as "workspaceName",
      "notifications"."seed_id" as "seedId",
      "seeds"."title" as "seedTitle",
      (
        select
          merged.title
        from
          "seeds" as merged
        where
          merged.id = ("notifications"."data" ->> 'fromSeedId')::uuid
      ) as "mergedTitle",
      "notifications"."comment_id" as "commentId",
      "notifications"."actor_user_id" as "actorUserId",
      "notifications"."actor_name" as "actorName",
      "notifications"."agent_name" as "agentName",
      to_char("notifications"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("notifications"."read_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "readAt"
    from
      "notifications"
      inner join "workspaces" on (
        "workspaces"."id" = "notifications"."workspace_id"
        and "workspaces"."deleted_at" is null
      )
      left join "seeds" on "seeds"."id" = "notifications"."seed_id"
    where
      (
        (
          "notifications"."user_id" = (
            select
              $1::uuid
          )
          and (
            $2::uuid[] is null
            or "notifications"."workspace_id" = any ($3::uuid[])
          )
          and "notifications"."kind" = any ($4::text[])
        )
        and "seeds"."deleted_at" is null
        and ("notifications"."created_at", "notifications"."id") < (
          (
            select
              $5::timestamptz
          ),
          (
            select
              $6::uuid
          )
        )
      )
    order by
      "notifications"."created_at" desc,
      "notifications"."id" desc
    limit
      (
        select
          $7::int
      )
  ) "rows";

-- notifications_select_asked
select
  "notifications"."data" ->> 'as',
  "notifications"."actor_user_id",
  "memberships"."role"
from
  "notifications"
  left join "memberships" on (
    "memberships"."workspace_id" = "notifications"."workspace_id"
    and "memberships"."user_id" = "notifications"."actor_user_id"
  )
where
  (
    "notifications"."seed_id" = $1
    and "notifications"."user_id" = $2
    and "notifications"."kind" = 'asked_to_join'
  );

-- notifications_select_mentioned
select
  "users"."id",
  "workspaces"."id",
  "users"."name",
  "users"."email",
  "notifications"."kind",
  "notifications"."data",
  "workspaces"."slug",
  "workspaces"."name",
  "notifications"."seed_id",
  "seeds"."title",
  (
    select
      merged.title
    from
      "seeds" as merged
    where
      merged.id = ("notifications"."data" ->> 'fromSeedId')::uuid
  ),
  "notifications"."comment_id",
  "notifications"."actor_user_id",
  "notifications"."actor_name",
  "notifications"."agent_name",
  "comments"."body",
  coalesce(
    (
      select
        json_agg(
          json_build_object('userId', "users"."id", 'name', "users"."name")
          order by
            "users"."id"
        )
      from
        "comment_mentions"
        join "users" on "users"."id" = "comment_mentions"."user_id"
      where
        "comment_mentions"."comment_id" = "comments"."id"
    ),
    '[]'
  )
from
  "notifications"
  inner join "users" on "users"."id" = "notifications"."user_id"
  inner join "comments" on "comments"."id" = "notifications"."comment_id"
  inner join "workspaces" on (
    "workspaces"."id" = "notifications"."workspace_id"
    and "workspaces"."deleted_at" is null
  )
  left join "seeds" on "seeds"."id" = "notifications"."seed_id"
where
  (
    "notifications"."comment_id" = $1
    and "notifications"."id" = $2
    and (
      exists (
        select
        from
          "comment_mentions"
        where
          "comment_mentions"."comment_id" = "comments"."id"
          and "comment_mentions"."user_id" = "users"."id"
      )
      or exists (
        select
        from
          "team_members"
        where
          "team_members"."workspace_id" = "comments"."workspace_id"
          and "team_members"."user_id" = "users"."id"
          and "comments"."body" ~ ('\[@(?!\u0001)([^][\\\n]|\\[^\n])*\]\(team:' || "team_members"."team_id" || '\)')
      )
    )
    and "notifications"."read_at" is null
    and "notifications"."mailed_at" is null
    and "seeds"."deleted_at" is null
    and (
      (
        "users"."workspace_activity" = $3
        and "users"."email_verified_at" is not null
        and not exists (
          select
          from
            "leavings" as leaving
          where
            leaving.user_id = "users"."id"
            and leaving.requested_at is not null
        )
        and "users"."suspended_at" is null
      )
      and case "notifications"."kind"
        when 'mention' then "users"."notify_mentions" = 'mail'
        when 'invite_accepted' then "users"."notify_accepted_invites" = 'mail'
        when 'decision_due' then "users"."notify_decisions" = 'mail'
        when 'role_changed' then "users"."notify_digest"
        and "users"."notify_role_changes" = 'mail'
        when 'agent' then "users"."notify_digest"
        and "users"."notify_agents" = 'mail'
        when 'agent_asked' then "users"."notify_digest"
        and "users"."notify_agent_requests" = 'mail'
        else "users"."notify_digest"
      end
    )
  )
order by
  "users"."id" asc;

-- notifications_select_preferences
select
  "notify_mentions",
  "notify_digest",
  "notify_role_changes",
  "notify_accepted_invites",
  "notify_agents",
  "notify_agent_requests",
  "notify_decisions"
from
  "users"
where
  "users"."id" = $1;

-- notifications_select_read
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "notifications"."id" as "id",
      "notifications"."kind" as "kind",
      "notifications"."data" as "data",
      "workspaces"."slug" as "workspaceSlug",
      "workspaces"."name" as "workspaceName",
      "notifications"."seed_id" as "seedId",
      "seeds"."title" as "seedTitle",
      (
        select
          merged.title
        from
          "seeds" as merged
        where
          merged.id = ("notifications"."data" ->> 'fromSeedId')::uuid
      ) as "mergedTitle",
      "notifications"."comment_id" as "commentId",
      "notifications"."actor_user_id" as "actorUserId",
      "notifications"."actor_name" as "actorName",
      "notifications"."agent_name" as "agentName",
      to_char("notifications"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("notifications"."read_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "readAt"
    from
      "notifications"
      inner join "workspaces" on (
        "workspaces"."id" = "notifications"."workspace_id"
        and "workspaces"."deleted_at" is null
      )
      left join "seeds" on "seeds"."id" = "notifications"."seed_id"
    where
      (
        (
          "notifications"."user_id" = (
            select
              $1::uuid
          )
          and (
            $2::uuid[] is null
            or "notifications"."workspace_id" = any ($3::uuid[])
          )
          and "notifications"."kind" = any ($4::text[])
        )
        and "notifications"."read_at" is not null
        and "seeds"."deleted_at" is null
        and ("notifications"."created_at", "notifications"."id") < (
          (
            select
              $5::timestamptz
          ),
          (
            select
              $6::uuid
          )
        )
      )
    order by
      "notifications"."created_at" desc,
      "notifications"."id" desc
    limit
      (
        select
          $7::int
      )
  ) "rows";

-- notifications_select_shown
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "notifications"."id" as "id",
      "notifications"."kind" as "kind",
      "notifications"."data" as "data",
      "workspaces"."slug" as "workspaceSlug",
      "workspaces"."name" as "workspaceName",
      "notifications"."seed_id" as "seedId",
      "seeds"."title" as "seedTitle",
      (
        select
          merged.title
        from
          "seeds" as merged
        where
          merged.id = ("notifications"."data" ->> 'fromSeedId')::uuid
      ) as "mergedTitle",
      "notifications"."comment_id" as "commentId",
      "notifications"."actor_user_id" as "actorUserId",
      "notifications"."actor_name" as "actorName",
      "notifications"."agent_name" as "agentName",
      to_char("notifications"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("notifications"."read_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "readAt",
      (
        select
          $1::text || "users"."image_key"
        from
          "memberships"
          join "users" on "users"."id" = "memberships"."user_id"
        where
          "memberships"."user_id" = "notifications"."actor_user_id"
          and "memberships"."workspace_id" = "notifications"."workspace_id"
      ) as "actorPicture",
      left("comments"."body", 2000) as "body",
      coalesce(
        (
          select
            json_agg(
              json_build_object('userId', "users"."id", 'name', "users"."name")
              order by
                "users"."id"
            )
          from
            "comment_mentions"
            join "users" on "users"."id" = "comment_mentions"."user_id"
          where
            "comment_mentions"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "mentions",
      left("evidence"."summary", 2000) as "summary"
    from
      "notifications"
      inner join "workspaces" on (
        "workspaces"."id" = "notifications"."workspace_id"
        and "workspaces"."deleted_at" is null
      )
      left join "seeds" on "seeds"."id" = "notifications"."seed_id"
      left join "comments" on "comments"."id" = "notifications"."comment_id"
      left join "evidence" on (
        "notifications"."kind" = $2
        and "evidence"."id" = ("notifications"."data" ->> 'evidenceId')::uuid
        and "evidence"."withdrawn_at" is null
      )
    where
      (
        (
          "notifications"."user_id" = (
            select
              $3::uuid
          )
          and (
            $4::uuid[] is null
            or "notifications"."workspace_id" = any ($5::uuid[])
          )
          and "notifications"."kind" = any ($6::text[])
        )
        and "seeds"."deleted_at" is null
        and ("notifications"."created_at", "notifications"."id") < (
          (
            select
              $7::timestamptz
          ),
          (
            select
              $8::uuid
          )
        )
      )
    order by
      "notifications"."created_at" desc,
      "notifications"."id" desc
    limit
      (
        select
          $9::int
      )
  ) "rows";

-- notifications_select_told_read
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "notifications"."kind" as "kind",
      "notifications"."data" as "data",
      "workspaces"."slug" as "workspaceSlug",
      "workspaces"."name" as "workspaceName",
      "notifications"."seed_id" as "seedId",
      "seeds"."title" as "seedTitle",
      (
        select
          merged.title
        from
          "seeds" as merged
        where
          merged.id = ("notifications"."data" ->> 'fromSeedId')::uuid
      ) as "mergedTitle",
      "notifications"."comment_id" as "commentId",
      "notifications"."actor_user_id" as "actorUserId",
      "notifications"."actor_name" as "actorName",
      "notifications"."agent_name" as "agentName",
      "notifications"."id" as "id",
      "notifications"."data" ->> 'evidenceId' as "evidenceId",
      "comments"."body" as "body",
      coalesce(
        (
          select
            json_agg(
              json_build_object('userId', "users"."id", 'name', "users"."name")
              order by
                "users"."id"
            )
          from
            "comment_mentions"
            join "users" on "users"."id" = "comment_mentions"."user_id"
          where
            "comment_mentions"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "mentions",
      "evidence"."summary" as "summary",
      case "notifications"."kind"
        when 'mention' then exists (
          select
          from
            "comments" as "answers"
          where
            (
              "answers"."seed_id" = "notifications"."seed_id"
              and "answers"."evidence_id" is not distinct from "comments"."evidence_id"
              and "answers"."author_user_id" = "notifications"."user_id"
              and "answers"."created_at" >= "notifications"."created_at"
            )
        )
      end as "answered",
      to_char("notifications"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("notifications"."read_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "readAt"
    from
      "notifications"
      inner join "workspaces" on (
        "workspaces"."id" = "notifications"."workspace_id"
        and "workspaces"."deleted_at" is null
      )
      inner join "seeds" on "seeds"."id" = "notifications"."seed_id"
      left join "comments" on "comments"."id" = "notifications"."comment_id"
      left join "evidence" on (
        "notifications"."kind" = $1
        and "evidence"."id" = ("notifications"."data" ->> 'evidenceId')::uuid
        and "evidence"."withdrawn_at" is null
      )
    where
      (
        (
          "notifications"."user_id" = (
            select
              $2::uuid
          )
          and (
            $3::uuid[] is null
            or "notifications"."workspace_id" = any ($4::uuid[])
          )
          and "notifications"."kind" = any ($5::text[])
        )
        and "notifications"."read_at" is not null
        and "seeds"."deleted_at" is null
        and ("notifications"."created_at", "notifications"."id") < (
          (
            select
              $6::timestamptz
          ),
          (
            select
              $7::uuid
          )
        )
      )
    order by
      "notifications"."created_at" desc,
      "notifications"."id" desc
    limit
      (
        select
          $8::int
      )
  ) "rows";

-- notifications_select_told_unread
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "notifications"."kind" as "kind",
      "notifications"."data" as "data",
      "workspaces"."slug" as "workspaceSlug",
      "workspaces"."name" as "workspaceName",
      "notifications"."seed_id" as "seedId",
      "seeds"."title" as "seedTitle",
      (
        select
          merged.title
        from
          "seeds" as merged
        where
          merged.id = ("notifications"."data" ->> 'fromSeedId')::uuid
      ) as "mergedTitle",
      "notifications"."comment_id" as "commentId",
      "notifications"."actor_user_id" as "actorUserId",
      "notifications"."actor_name" as "actorName",
      "notifications"."agent_name" as "agentName",
      "notifications"."id" as "id",
      "notifications"."data" ->> 'evidenceId' as "evidenceId",
      "comments"."body" as "body",
      coalesce(
        (
          select
            json_agg(
              json_build_object('userId', "users"."id", 'name', "users"."name")
              order by
                "users"."id"
            )
          from
            "comment_mentions"
            join "users" on "users"."id" = "comment_mentions"."user_id"
          where
            "comment_mentions"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "mentions",
      "evidence"."summary" as "summary",
      case "notifications"."kind"
        when 'mention' then exists (
          select
          from
            "comments" as "answers"
          where
            (
              "answers"."seed_id" = "notifications"."seed_id"
              and "answers"."evidence_id" is not distinct from "comments"."evidence_id"
              and "answers"."author_user_id" = "notifications"."user_id"
              and "answers"."created_at" >= "notifications"."created_at"
            )
        )
      end as "answered",
      to_char("notifications"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("notifications"."read_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "readAt"
    from
      "notifications"
      inner join "workspaces" on (
        "workspaces"."id" = "notifications"."workspace_id"
        and "workspaces"."deleted_at" is null
      )
      inner join "seeds" on "seeds"."id" = "notifications"."seed_id"
      left join "comments" on "comments"."id" = "notifications"."comment_id"
      left join "evidence" on (
        "notifications"."kind" = $1
        and "evidence"."id" = ("notifications"."data" ->> 'evidenceId')::uuid
        and "evidence"."withdrawn_at" is null
      )
    where
      (
        (
          "notifications"."user_id" = (
            select
              $2::uuid
          )
          and (
            $3::uuid[] is null
            or "notifications"."workspace_id" = any ($4::uuid[])
          )
          and "notifications"."kind" = any ($5::text[])
        )
        and "notifications"."read_at" is null
        and "seeds"."deleted_at" is null
        and ("notifications"."created_at", "notifications"."id") < (
          (
            select
              $6::timestamptz
          ),
          (
            select
              $7::uuid
          )
        )
      )
    order by
      "notifications"."created_at" desc,
      "notifications"."id" desc
    limit
      (
        select
          $8::int
      )
  ) "rows";

-- notifications_select_unread
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "notifications"."id" as "id",
      "notifications"."kind" as "kind",
      "notifications"."data" as "data",
      "workspaces"."slug" as "workspaceSlug",
      "workspaces"."name" as "workspaceName",
      "notifications"."seed_id" as "seedId",
      "seeds"."title" as "seedTitle",
      (
        select
          merged.title
        from
          "seeds" as merged
        where
          merged.id = ("notifications"."data" ->> 'fromSeedId')::uuid
      ) as "mergedTitle",
      "notifications"."comment_id" as "commentId",
      "notifications"."actor_user_id" as "actorUserId",
      "notifications"."actor_name" as "actorName",
      "notifications"."agent_name" as "agentName",
      to_char("notifications"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("notifications"."read_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "readAt"
    from
      "notifications"
      inner join "workspaces" on (
        "workspaces"."id" = "notifications"."workspace_id"
        and "workspaces"."deleted_at" is null
      )
      left join "seeds" on "seeds"."id" = "notifications"."seed_id"
    where
      (
        (
          "notifications"."user_id" = (
            select
              $1::uuid
          )
          and (
            $2::uuid[] is null
            or "notifications"."workspace_id" = any ($3::uuid[])
          )
          and "notifications"."kind" = any ($4::text[])
        )
        and "notifications"."read_at" is null
        and "seeds"."deleted_at" is null
        and ("notifications"."created_at", "notifications"."id") < (
          (
            select
              $5::timestamptz
          ),
          (
            select
              $6::uuid
          )
        )
      )
    order by
      "notifications"."created_at" desc,
      "notifications"."id" desc
    limit
      (
        select
          $7::int
      )
  ) "rows";

-- notifications_select_unread_shown
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "notifications"."id" as "id",
      "notifications"."kind" as "kind",
      "notifications"."data" as "data",
      "workspaces"."slug" as "workspaceSlug",
      "workspaces"."name" as "workspaceName",
      "notifications"."seed_id" as "seedId",
      "seeds"."title" as "seedTitle",
      (
        select
          merged.title
        from
          "seeds" as merged
        where
          merged.id = ("notifications"."data" ->> 'fromSeedId')::uuid
      ) as "mergedTitle",
      "notifications"."comment_id" as "commentId",
      "notifications"."actor_user_id" as "actorUserId",
      "notifications"."actor_name" as "actorName",
      "notifications"."agent_name" as "agentName",
      to_char("notifications"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("notifications"."read_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "readAt",
      (
        select
          $1::text || "users"."image_key"
        from
          "memberships"
          join "users" on "users"."id" = "memberships"."user_id"
        where
          "memberships"."user_id" = "notifications"."actor_user_id"
          and "memberships"."workspace_id" = "notifications"."workspace_id"
      ) as "actorPicture",
      left("comments"."body", 2000) as "body",
      coalesce(
        (
          select
            json_agg(
              json_build_object('userId', "users"."id", 'name', "users"."name")
              order by
                "users"."id"
            )
          from
            "comment_mentions"
            join "users" on "users"."id" = "comment_mentions"."user_id"
          where
            "comment_mentions"."comment_id" = "comments"."id"
        ),
        '[]'
      ) as "mentions",
      left("evidence"."summary", 2000) as "summary"
    from
      "notifications"
      inner join "workspaces" on (
        "workspaces"."id" = "notifications"."workspace_id"
        and "workspaces"."deleted_at" is null
      )
      left join "seeds" on "seeds"."id" = "notifications"."seed_id"
      left join "comments" on "comments"."id" = "notifications"."comment_id"
      left join "evidence" on (
        "notifications"."kind" = $2
        and "evidence"."id" = ("notifications"."data" ->> 'evidenceId')::uuid
        and "evidence"."withdrawn_at" is null
      )
    where
      (
        (
          "notifications"."user_id" = (
            select
              $3::uuid
          )
          and (
            $4::uuid[] is null
            or "notifications"."workspace_id" = any ($5::uuid[])
          )
          and "notifications"."kind" = any ($6::text[])
        )
        and "notifications"."read_at" is null
        and "seeds"."deleted_at" is null
        and ("notifications"."created_at", "notifications"."id") < (
          (
            select
              $7::timestamptz
          ),
          (
            select
              $8::uuid
          )
        )
      )
    order by
      "notifications"."created_at" desc,
      "notifications"."id" desc
    limit
      (
        select
          $9::int
      )
  ) "rows";

-- notifications_set_preferences
update "users"
set
  "notify_mentions" = coalesce($1::text, "users"."notify_mentions"),
  "notify_digest" = coalesce($2::boolean, "users"."notify_digest"),
  "notify_role_changes" = coalesce($3::text, "users"."notify_role_changes"),
  "notify_accepted_invites" = coalesce($4::text, "users"."notify_accepted_invites"),
  "notify_agents" = coalesce($5::text, "users"."notify_agents"),
  "notify_decisions" = coalesce($6::text, "users"."notify_decisions"),
  "notify_agent_requests" = coalesce($7::text, "users"."notify_agent_requests")
where
  "users"."id" = $8;

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
          and (earlier.payload ->> 'iiat') = (locked.payload ->> 'iiat')
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
      and (oauth_records.payload ->> 'iiat') = (first.payload ->> 'iiat')
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
    and not exists (
      select
      from
        "users" as suspended
      where
        suspended.id = "agent_grants"."user_id"
        and suspended.suspended_at is not null
    )
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

-- own_work_select
select
  coalesce(
    (
      select
        json_agg(
          json_build_object('id', id, 'title', title, 'status', status, 'decideBy', decide_by)
          order by
            decide_by,
            id
        )
      from
        (
          select
            own.id,
            own.title,
            own.status,
            own.decide_by
          from
            (
              (
                select
                  "seeds"."id",
                  "seeds"."title",
                  "seeds"."status",
                  "seeds"."decide_by"
                from
                  "seeds"
                where
                  "seeds"."workspace_id" = (
                    select
                      $1::uuid
                  )
                  and "seeds"."lead_user_id" = (
                    select
                      $2::uuid
                  )
                  and "seeds"."deleted_at" is null
                  and "seeds"."status" in ('open', 'validating')
                  and "seeds"."decide_by" <= (
                    select
                      $3::date
                  )
                limit
                  200
              )
              union
              (
                select
                  "seeds"."id",
                  "seeds"."title",
                  "seeds"."status",
                  "seeds"."decide_by"
                from
                  "seed_participants"
                  join "seeds" on "seeds"."id" = "seed_participants"."seed_id"
                where
                  "seed_participants"."workspace_id" = (
                    select
                      $4::uuid
                  )
                  and "seed_participants"."user_id" = (
                    select
                      $5::uuid
                  )
                  and "seeds"."deleted_at" is null
                  and "seeds"."status" in ('open', 'validating')
                  and "seeds"."decide_by" <= (
                    select
                      $6::date
                  )
                limit
                  200
              )
              union
              (
                select
                  "seeds"."id",
                  "seeds"."title",
                  "seeds"."status",
                  "seeds"."decide_by"
                from
                  "seed_followers"
                  join "seeds" on "seeds"."id" = "seed_followers"."seed_id"
                where
                  "seed_followers"."workspace_id" = (
                    select
                      $7::uuid
                  )
                  and "seed_followers"."user_id" = (
                    select
                      $8::uuid
                  )
                  and "seeds"."deleted_at" is null
                  and "seeds"."status" in ('open', 'validating')
                  and "seeds"."decide_by" <= (
                    select
                      $9::date
                  )
                limit
                  200
              )
            ) as own
          order by
            own.decide_by,
            own.id
          limit
            5
        ) as dated
    ),
    '[]'
  ) as "dated_seeds",
  coalesce(
    (
      select
        json_agg(
          json_build_object('id', id, 'title', title, 'status', status, 'idleSince', idle_since, 'hasEvidence', has_evidence)
          order by
            idle_since,
            id
        )
      from
        (
          select
            own.id,
            own.title,
            own.status,
            coalesce(latest.at, own.created_at) as idle_since,
            latest.at is not null as has_evidence
          from
            (
              (
                select
                  "seeds"."id",
                  "seeds"."title",
                  "seeds"."status",
                  "seeds"."created_at"
                from
                  "seeds"
                where
                  "seeds"."workspace_id" = (
                    select
                      $10::uuid
                  )
                  and "seeds"."lead_user_id" = (
                    select
                      $11::uuid
                  )
                  and "seeds"."deleted_at" is null
                  and "seeds"."status" in ('open', 'validating')
                limit
                  200
              )
              union
              (
                select
                  "seeds"."id",
                  "seeds"."title",
                  "seeds"."status",
                  "seeds"."created_at"
                from
                  "seed_participants"
                  join "seeds" on "seeds"."id" = "seed_participants"."seed_id"
                where
                  "seed_participants"."workspace_id" = (
                    select
                      $12::uuid
                  )
                  and "seed_participants"."user_id" = (
                    select
                      $13::uuid
                  )
                  and "seeds"."created_by_user_id" = (
                    select
                      $14::uuid
                  )
                  and "seeds"."deleted_at" is null
                  and "seeds"."status" in ('open', 'validating')
                limit
                  200
              )
            ) as own
            left join lateral (
              select
                "evidence"."created_at" as at
              from
                "evidence"
              where
                "evidence"."seed_id" = own.id
                and "evidence"."withdrawn_at" is null
              order by
                "evidence"."created_at" desc,
                "evidence"."id" desc
              limit
                1
            ) as latest on true
          where
            coalesce(latest.at, own.created_at) < (
              select
                $15::timestamptz
            )
          order by
            idle_since,
            own.id
          limit
            5
        ) as idle
    ),
    '[]'
  ) as "idle_seeds",
  case
    when "joined_at" > (
      select
        $16::timestamptz
    ) then array(
      select distinct
        type
      from
        (
          select
            "events"."type",
            "events"."source"
          from
            "events"
          where
            "events"."workspace_id" = (
              select
                $17::uuid
            )
            and "events"."actor_user_id" = (
              select
                $18::uuid
            )
          order by
            "events"."created_at" desc,
            "events"."id" desc
          limit
            500
        ) as latest
      where
        source in ('web', 'api')
        and type = any (
          (
            select
              $19::text[]
          )::text[]
        )
    )
    else '{}'
  end as "done_types",
  exists (
    select
    from
      "seed_followers"
    where
      "seed_followers"."workspace_id" = (
        select
          $20::uuid
      )
      and "seed_followers"."user_id" = (
        select
          $21::uuid
      )
  ) as "follows",
  "joined_at"
from
  "memberships"
where
  "memberships"."workspace_id" = (
    select
      $22::uuid
  )
  and "memberships"."user_id" = (
    select
      $23::uuid
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
              '[]'::json as "teams",
              false as "suspended",
              null as "lastActivityAt"
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
  "users"."kind",
  "users"."name",
  "users"."email",
  $1::text || "users"."image_key",
  "memberships"."role",
  ("users"."suspended_at" is not null),
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
              "sized"."id" as "id",
              "kind_of_person" as "kind",
              "sized"."id" as "userId",
              "sized"."name" as "name",
              "sized"."email" as "email",
              $1::text || "sized"."image_key" as "image",
              "sized"."role" as "role",
              "teams_of_member" as "teams",
              "is_suspended" as "suspended",
              to_char("sized"."last_activity_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastActivityAt"
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
          "is_suspended",
          "last_activity_at",
          "kind_of_person",
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
              ("users"."suspended_at" is not null) as "is_suspended",
              "memberships"."last_activity_at",
              case "users"."kind"
                when 'service' then 'service'
                else 'member'
              end as "kind_of_person",
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
      ) "sized"
    where
      "teams_before" < $6
    order by
      "sized"."joined_at" asc,
      "sized"."id" asc
  ) "rows";

-- people_select_persons
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
              "sized"."id" as "id",
              "kind_of_person" as "kind",
              "sized"."id" as "userId",
              "sized"."name" as "name",
              "sized"."email" as "email",
              $1::text || "sized"."image_key" as "image",
              "sized"."role" as "role",
              "teams_of_member" as "teams",
              "is_suspended" as "suspended",
              to_char("sized"."last_activity_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastActivityAt"
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
          "is_suspended",
          "last_activity_at",
          "kind_of_person",
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
              ("users"."suspended_at" is not null) as "is_suspended",
              "memberships"."last_activity_at",
              case "users"."kind"
                when 'service' then 'service'
                else 'member'
              end as "kind_of_person",
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
                and "users"."kind" = 'person'
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
      ) "sized"
    where
      "teams_before" < $6
    order by
      "sized"."joined_at" asc,
      "sized"."id" asc
  ) "rows";

-- people_select_services
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
              "sized"."id" as "id",
              "kind_of_person" as "kind",
              "sized"."id" as "userId",
              "sized"."name" as "name",
              "sized"."email" as "email",
              $1::text || "sized"."image_key" as "image",
              "sized"."role" as "role",
              "teams_of_member" as "teams",
              "is_suspended" as "suspended",
              to_char("sized"."last_activity_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastActivityAt"
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
          "is_suspended",
          "last_activity_at",
          "kind_of_person",
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
              ("users"."suspended_at" is not null) as "is_suspended",
              "memberships"."last_activity_at",
              case "users"."kind"
                when 'service' then 'service'
                else 'member'
              end as "kind_of_person",
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
                and "users"."kind" = 'service'
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
      ) "sized"
    where
      "teams_before" < $6
    order by
      "sized"."joined_at" asc,
      "sized"."id" asc
  ) "rows";

-- saved_filters_count_named
select
  (
    (
      select
        count(*)
      from
        "teams"
      where
        (
          "teams"."workspace_id" = (
            select
              $1::uuid
          )
          and "teams"."id" = any (
            (
              select
                $2::uuid[]
            )::uuid[]
          )
        )
    ) + (
      select
        count(*)
      from
        "labels"
      where
        (
          "labels"."workspace_id" = (
            select
              $3::uuid
          )
          and "labels"."id" = any (
            (
              select
                $4::uuid[]
            )::uuid[]
          )
        )
    ) + (
      select
        count(*)
      from
        "seeds"
      where
        (
          "seeds"."workspace_id" = (
            select
              $5::uuid
          )
          and "seeds"."id" = any (
            (
              select
                $6::uuid[]
            )::uuid[]
          )
          and "seeds"."deleted_at" is null
        )
    ) + (
      select
        count(*)
      from
        "memberships"
      where
        (
          "memberships"."workspace_id" = (
            select
              $7::uuid
          )
          and "memberships"."user_id" = any (
            (
              select
                $8::uuid[]
            )::uuid[]
          )
        )
    )
  )::int as "count"
from
  (
    select
  ) as nothing;

-- saved_filters_lock
select
  "id",
  "workspace_id",
  "name",
  "owner_user_id" is null,
  coalesce("owner_user_id", "shared_by_user_id"),
  '{"status":null,"ids":null,"q":null,"createdByUserId":null,"leadUserId":null,"balance":null,"teamId":null,"labelIds":null,"due":null,"updatedSince":null,"joined":null,"sort":null}'::jsonb || "filters",
  "created_at",
  "updated_at"
from
  "saved_filters"
where
  (
    (
      "saved_filters"."workspace_id" = (
        select
          $1::uuid
      )
      and (
        "saved_filters"."owner_user_id" is null
        or "saved_filters"."owner_user_id" = (
          select
            $2::uuid
        )
      )
    )
    and "saved_filters"."id" = $3
  )
for no key update;

-- saved_filters_select
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "id" as "id",
      "workspace_id" as "workspaceId",
      "name" as "name",
      "saved_filters"."owner_user_id" is null as "shared",
      coalesce("saved_filters"."owner_user_id", "saved_filters"."shared_by_user_id") as "createdByUserId",
      '{"status":null,"ids":null,"q":null,"createdByUserId":null,"leadUserId":null,"balance":null,"teamId":null,"labelIds":null,"due":null,"updatedSince":null,"joined":null,"sort":null}'::jsonb || "saved_filters"."filters" as "filters",
      to_char("saved_filters"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("saved_filters"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
    from
      "saved_filters"
    where
      (
        (
          "saved_filters"."workspace_id" = (
            select
              $1::uuid
          )
          and (
            "saved_filters"."owner_user_id" is null
            or "saved_filters"."owner_user_id" = (
              select
                $2::uuid
            )
          )
        )
        and ("saved_filters"."created_at", "saved_filters"."id") > (
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
      "saved_filters"."created_at" asc,
      "saved_filters"."id" asc
    limit
      (
        select
          $5::int
      )
  ) "rows";

-- saved_filters_select_all
select
  (
    select
      coalesce(
        json_agg(
          (
            select
              item
            from
              (
                select
                  "saved_filters"."id" as "id",
                  "saved_filters"."workspace_id" as "workspaceId",
                  "saved_filters"."name" as "name",
                  "saved_filters"."owner_user_id" is null as "shared",
                  coalesce("saved_filters"."owner_user_id", "saved_filters"."shared_by_user_id") as "createdByUserId",
                  '{"status":null,"ids":null,"q":null,"createdByUserId":null,"leadUserId":null,"balance":null,"teamId":null,"labelIds":null,"due":null,"updatedSince":null,"joined":null,"sort":null}'::jsonb || "saved_filters"."filters" as "filters",
                  to_char("saved_filters"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
                  to_char("saved_filters"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
              ) as item
          )
          order by
            "saved_filters"."name",
            "saved_filters"."id"
        ),
        '[]'
      )
    from
      "saved_filters"
    where
      (
        "saved_filters"."workspace_id" = (
          select
            $1::uuid
        )
        and (
          "saved_filters"."owner_user_id" is null
          or "saved_filters"."owner_user_id" = (
            select
              $2::uuid
          )
        )
      )
  ) as "saved_filters"
from
  (
    values
      (0)
  ) as filters;

-- saved_filters_select_choices
select
  (
    select
      coalesce(json_agg(json_build_object('id', named.id, 'name', named.name)), '[]')
    from
      (
        select
          "teams"."id",
          "teams"."name"
        from
          "teams"
        where
          "teams"."workspace_id" = $1
        order by
          "teams"."created_at",
          "teams"."id"
        limit
          200
      ) as named
  ) as "teams",
  (
    select
      coalesce(json_agg(json_build_object('id', named.id, 'name', named.name)), '[]')
    from
      (
        select
          "labels"."id",
          "labels"."name"
        from
          "labels"
        where
          "labels"."workspace_id" = $2
        order by
          "labels"."created_at",
          "labels"."id"
        limit
          200
      ) as named
  ) as "labels",
  (
    select
      coalesce(
        json_agg(
          (
            select
              item
            from
              (
                select
                  "saved_filters"."id" as "id",
                  "saved_filters"."workspace_id" as "workspaceId",
                  "saved_filters"."name" as "name",
                  "saved_filters"."owner_user_id" is null as "shared",
                  coalesce("saved_filters"."owner_user_id", "saved_filters"."shared_by_user_id") as "createdByUserId",
                  '{"status":null,"ids":null,"q":null,"createdByUserId":null,"leadUserId":null,"balance":null,"teamId":null,"labelIds":null,"due":null,"updatedSince":null,"joined":null,"sort":null}'::jsonb || "saved_filters"."filters" as "filters",
                  to_char("saved_filters"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
                  to_char("saved_filters"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
              ) as item
          )
          order by
            "saved_filters"."name",
            "saved_filters"."id"
        ),
        '[]'
      )
    from
      "saved_filters"
    where
      (
        "saved_filters"."workspace_id" = (
          select
            $3::uuid
        )
        and (
          "saved_filters"."owner_user_id" is null
          or "saved_filters"."owner_user_id" = (
            select
              $4::uuid
          )
        )
      )
  ) as "saved_filters"
from
  (
    values
      (0)
  ) as choices;

-- saved_filters_select_one
select
  "id",
  "workspace_id",
  "name",
  "owner_user_id" is null,
  coalesce("owner_user_id", "shared_by_user_id"),
  '{"status":null,"ids":null,"q":null,"createdByUserId":null,"leadUserId":null,"balance":null,"teamId":null,"labelIds":null,"due":null,"updatedSince":null,"joined":null,"sort":null}'::jsonb || "filters",
  "created_at",
  "updated_at"
from
  "saved_filters"
where
  (
    (
      "saved_filters"."workspace_id" = (
        select
          $1::uuid
      )
      and (
        "saved_filters"."owner_user_id" is null
        or "saved_filters"."owner_user_id" = (
          select
            $2::uuid
        )
      )
    )
    and "saved_filters"."id" = $3
  );

-- search_count
select
  (
    case
      when (
        select
          count(*) >= 100
        from
          (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."workspace_id" = (
                select
                  $1::uuid
              )
              and "search_entries"."kind" = 'seed'
            order by
              "search_entries"."at" desc,
              "search_entries"."id" desc
            limit
              200
          ) as sample
        where
          words @@ (
            select
              search_query (
                (
                  select
                    $2::uuid
                ),
                'seed',
                false,
                true,
                (
                  select
                    $3::text
                )
              )
          )
      )
      and (
        select
          count(*)
        from
          (
            select
            from
              (
                select
                  "search_entries"."id",
                  "search_entries"."at",
                  "search_entries"."words"
                from
                  "search_entries"
                where
                  "search_entries"."workspace_id" = (
                    select
                      $4::uuid
                  )
                  and "search_entries"."kind" = 'seed'
                order by
                  "search_entries"."at" desc,
                  "search_entries"."id" desc
                limit
                  4000
              ) as newest
            where
              words @@ (
                select
                  search_query (
                    (
                      select
                        $5::uuid
                    ),
                    'seed',
                    false,
                    true,
                    (
                      select
                        $6::text
                    )
                  )
              )
            limit
              1000
          ) as counted
      ) = 1000 then 1000
      else (
        select
          count(*)::int
        from
          (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_query (
                    (
                      select
                        $7::uuid
                    ),
                    'seed',
                    false,
                    true,
                    (
                      select
                        $8::text
                    )
                  )
              )
              and true
              and "search_entries"."workspace_id"::text = (
                select
                  $9::uuid
              )::text
              and true
            limit
              1000
          ) as matching_seed
      )
    end
  ) as "seeds",
  (
    case
      when (
        select
          count(*) >= 100
        from
          (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."workspace_id" = (
                select
                  $10::uuid
              )
              and "search_entries"."kind" = 'evidence'
            order by
              "search_entries"."at" desc,
              "search_entries"."id" desc
            limit
              200
          ) as sample
        where
          words @@ (
            select
              search_query (
                (
                  select
                    $11::uuid
                ),
                'evidence',
                false,
                true,
                (
                  select
                    $12::text
                )
              )
          )
      )
      and (
        select
          count(*)
        from
          (
            select
            from
              (
                select
                  "search_entries"."id",
                  "search_entries"."at",
                  "search_entries"."words"
                from
                  "search_entries"
                where
                  "search_entries"."workspace_id" = (
                    select
                      $13::uuid
                  )
                  and "search_entries"."kind" = 'evidence'
                order by
                  "search_entries"."at" desc,
                  "search_entries"."id" desc
                limit
                  4000
              ) as newest
            where
              words @@ (
                select
                  search_query (
                    (
                      select
                        $14::uuid
                    ),
                    'evidence',
                    false,
                    true,
                    (
                      select
                        $15::text
                    )
                  )
              )
            limit
              1000
          ) as counted
      ) = 1000 then 1000
      else (
        select
          count(*)::int
        from
          (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_query (
                    (
                      select
                        $16::uuid
                    ),
                    'evidence',
                    false,
                    true,
                    (
                      select
                        $17::text
                    )
                  )
              )
              and true
              and "search_entries"."workspace_id"::text = (
                select
                  $18::uuid
              )::text
              and true
            limit
              1000
          ) as matching_evidence
      )
    end
  ) as "evidence",
  (
    case
      when (
        select
          count(*) >= 100
        from
          (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."workspace_id" = (
                select
                  $19::uuid
              )
              and "search_entries"."kind" = 'comment'
            order by
              "search_entries"."at" desc,
              "search_entries"."id" desc
            limit
              200
          ) as sample
        where
          words @@ (
            select
              search_query (
                (
                  select
                    $20::uuid
                ),
                'comment',
                false,
                true,
                (
                  select
                    $21::text
                )
              )
          )
      )
      and (
        select
          count(*)
        from
          (
            select
            from
              (
                select
                  "search_entries"."id",
                  "search_entries"."at",
                  "search_entries"."words"
                from
                  "search_entries"
                where
                  "search_entries"."workspace_id" = (
                    select
                      $22::uuid
                  )
                  and "search_entries"."kind" = 'comment'
                order by
                  "search_entries"."at" desc,
                  "search_entries"."id" desc
                limit
                  4000
              ) as newest
            where
              words @@ (
                select
                  search_query (
                    (
                      select
                        $23::uuid
                    ),
                    'comment',
                    false,
                    true,
                    (
                      select
                        $24::text
                    )
                  )
              )
            limit
              1000
          ) as counted
      ) = 1000 then 1000
      else (
        select
          count(*)::int
        from
          (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_query (
                    (
                      select
                        $25::uuid
                    ),
                    'comment',
                    false,
                    true,
                    (
                      select
                        $26::text
                    )
                  )
              )
              and true
              and "search_entries"."workspace_id"::text = (
                select
                  $27::uuid
              )::text
              and true
            limit
              1000
          ) as matching_comment
      )
    end
  ) as "comments",
  (
    case
      when (
        select
          count(*) >= 100
        from
          (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."workspace_id" = (
                select
                  $28::uuid
              )
              and "search_entries"."kind" = 'person'
            order by
              "search_entries"."at" desc,
              "search_entries"."id" desc
            limit
              200
          ) as sample
        where
          words @@ (
            select
              search_query (
                (
                  select
                    $29::uuid
                ),
                'person',
                false,
                true,
                (
                  select
                    $30::text
                )
              )
          )
      )
      and (
        select
          count(*)
        from
          (
            select
            from
              (
                select
                  "search_entries"."id",
                  "search_entries"."at",
                  "search_entries"."words"
                from
                  "search_entries"
                where
                  "search_entries"."workspace_id" = (
                    select
                      $31::uuid
                  )
                  and "search_entries"."kind" = 'person'
                order by
                  "search_entries"."at" desc,
                  "search_entries"."id" desc
                limit
                  4000
              ) as newest
            where
              words @@ (
                select
                  search_query (
                    (
                      select
                        $32::uuid
                    ),
                    'person',
                    false,
                    true,
                    (
                      select
                        $33::text
                    )
                  )
              )
            limit
              1000
          ) as counted
      ) = 1000 then 1000
      else (
        select
          count(*)::int
        from
          (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_query (
                    (
                      select
                        $34::uuid
                    ),
                    'person',
                    false,
                    true,
                    (
                      select
                        $35::text
                    )
                  )
              )
              and true
              and "search_entries"."workspace_id"::text = (
                select
                  $36::uuid
              )::text
              and true
            limit
              1000
          ) as matching_person
      )
    end
  ) as "people",
  (
    case
      when (
        select
          count(*) >= 100
        from
          (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."workspace_id" = (
                select
                  $37::uuid
              )
              and "search_entries"."kind" = 'team'
            order by
              "search_entries"."at" desc,
              "search_entries"."id" desc
            limit
              200
          ) as sample
        where
          words @@ (
            select
              search_query (
                (
                  select
                    $38::uuid
                ),
                'team',
                false,
                true,
                (
                  select
                    $39::text
                )
              )
          )
      )
      and (
        select
          count(*)
        from
          (
            select
            from
              (
                select
                  "search_entries"."id",
                  "search_entries"."at",
                  "search_entries"."words"
                from
                  "search_entries"
                where
                  "search_entries"."workspace_id" = (
                    select
                      $40::uuid
                  )
                  and "search_entries"."kind" = 'team'
                order by
                  "search_entries"."at" desc,
                  "search_entries"."id" desc
                limit
                  4000
              ) as newest
            where
              words @@ (
                select
                  search_query (
                    (
                      select
                        $41::uuid
                    ),
                    'team',
                    false,
                    true,
                    (
                      select
                        $42::text
                    )
                  )
              )
            limit
              1000
          ) as counted
      ) = 1000 then 1000
      else (
        select
          count(*)::int
        from
          (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_query (
                    (
                      select
                        $43::uuid
                    ),
                    'team',
                    false,
                    true,
                    (
                      select
                        $44::text
                    )
                  )
              )
              and true
              and "search_entries"."workspace_id"::text = (
                select
                  $45::uuid
              )::text
              and true
            limit
              1000
          ) as matching_team
      )
    end
  ) as "teams"
from
  (
    select
  ) as nothing;

-- search_select
select
  coalesce(string_agg(rows.item::text, E',\n'), '') as "text",
  count(*)::int as "count",
  coalesce(
    string_agg(
      rows.rank || ' ' || (
        extract(
          epoch
          from
            rows.at
        ) * 1000
      )::bigint::text,
      ','
    ),
    ''
  ) as "ranks"
from
  (
    select
      row_to_json(
        (
          select
            item
          from
            (
              select
                page.kind as "kind",
                page.id as "id",
                coalesce("seeds"."title", "users"."name", "teams"."name") as "title",
                case page.kind
                  when 'person' then "users"."email"
                  when 'team' then null
                  else case
                    when source.start > 1 then '…'
                    else ''
                  end || substr(source.text, source.start, 160) || case
                    when length(source.text) >= source.start + 160 then '…'
                    else ''
                  end
                end as "excerpt",
                "seeds"."id" as "seedId",
                "seeds"."status" as "seedStatus",
                $1::text || case page.kind
                  when 'person' then '/people/' || page.id
                  when 'team' then '/teams/' || page.id
                  when 'seed' then '/seeds/' || page.id
                  else '/seeds/' || "seeds"."id" || '#' || page.kind || '-' || page.id
                end as "path"
            ) as item
        )
      ) as item,
      page.at,
      page.rank
    from
      (
        with
          common_seed as materialized (
            select
              'seed' = any (
                (
                  select
                    $2::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $3::uuid
                      )
                      and "search_entries"."kind" = 'seed'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_query (
                        (
                          select
                            $4::uuid
                        ),
                        'seed',
                        false,
                        true,
                        (
                          select
                            $5::text
                        )
                      )
                  )
              ) as is_common
          ),
          matching_seed as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_query (
                    (
                      select
                        $6::uuid
                    ),
                    'seed',
                    false,
                    true,
                    (
                      select
                        $7::text
                    )
                  )
              )
              and true
              and "search_entries"."workspace_id"::text = (
                select
                  $8::uuid
              )::text
              and 'seed' = any (
                (
                  select
                    $9::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_seed
              )
            limit
              400 + 1
          ),
          common_evidence as materialized (
            select
              'evidence' = any (
                (
                  select
                    $10::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $11::uuid
                      )
                      and "search_entries"."kind" = 'evidence'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_query (
                        (
                          select
                            $12::uuid
                        ),
                        'evidence',
                        false,
                        true,
                        (
                          select
                            $13::text
                        )
                      )
                  )
              ) as is_common
          ),
          matching_evidence as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_query (
                    (
                      select
                        $14::uuid
                    ),
                    'evidence',
                    false,
                    true,
                    (
                      select
                        $15::text
                    )
                  )
              )
              and true
              and "search_entries"."workspace_id"::text = (
                select
                  $16::uuid
              )::text
              and 'evidence' = any (
                (
                  select
                    $17::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_evidence
              )
            limit
              400 + 1
          ),
          common_comment as materialized (
            select
              'comment' = any (
                (
                  select
                    $18::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $19::uuid
                      )
                      and "search_entries"."kind" = 'comment'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_query (
                        (
                          select
                            $20::uuid
                        ),
                        'comment',
                        false,
                        true,
                        (
                          select
                            $21::text
                        )
                      )
                  )
              ) as is_common
          ),
          matching_comment as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_query (
                    (
                      select
                        $22::uuid
                    ),
                    'comment',
                    false,
                    true,
                    (
                      select
                        $23::text
                    )
                  )
              )
              and true
              and "search_entries"."workspace_id"::text = (
                select
                  $24::uuid
              )::text
              and 'comment' = any (
                (
                  select
                    $25::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_comment
              )
            limit
              400 + 1
          ),
          common_person as materialized (
            select
              'person' = any (
                (
                  select
                    $26::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $27::uuid
                      )
                      and "search_entries"."kind" = 'person'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_query (
                        (
                          select
                            $28::uuid
                        ),
                        'person',
                        false,
                        true,
                        (
                          select
                            $29::text
                        )
                      )
                  )
              ) as is_common
          ),
          matching_person as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_query (
                    (
                      select
                        $30::uuid
                    ),
                    'person',
                    false,
                    true,
                    (
                      select
                        $31::text
                    )
                  )
              )
              and true
              and "search_entries"."workspace_id"::text = (
                select
                  $32::uuid
              )::text
              and 'person' = any (
                (
                  select
                    $33::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_person
              )
            limit
              400 + 1
          ),
          common_team as materialized (
            select
              'team' = any (
                (
                  select
                    $34::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $35::uuid
                      )
                      and "search_entries"."kind" = 'team'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_query (
                        (
                          select
                            $36::uuid
                        ),
                        'team',
                        false,
                        true,
                        (
                          select
                            $37::text
                        )
                      )
                  )
              ) as is_common
          ),
          matching_team as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_query (
                    (
                      select
                        $38::uuid
                    ),
                    'team',
                    false,
                    true,
                    (
                      select
                        $39::text
                    )
                  )
              )
              and true
              and "search_entries"."workspace_id"::text = (
                select
                  $40::uuid
              )::text
              and 'team' = any (
                (
                  select
                    $41::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_team
              )
            limit
              400 + 1
          )
        select
          kind,
          id,
          at,
          rank
        from
          (
            select distinct
              kind,
              id,
              at,
              rank
            from
              (
                select
                  'seed' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $42::uuid
                          ),
                          'seed',
                          true,
                          false,
                          (
                            select
                              $43::text
                          )
                        )
                    ) then 4
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $44::uuid
                          ),
                          'seed',
                          true,
                          true,
                          (
                            select
                              $45::text
                          )
                        )
                    ) then 3
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $46::uuid
                          ),
                          'seed',
                          false,
                          false,
                          (
                            select
                              $47::text
                          )
                        )
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_seed
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_seed
                          ) > 400
                          or (
                            select
                              is_common
                            from
                              common_seed
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $48::uuid
                              )
                              and "search_entries"."kind" = 'seed'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 400
                          ) as newest
                        where
                          words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $49::uuid
                                ),
                                'seed',
                                false,
                                true,
                                (
                                  select
                                    $50::text
                                )
                              )
                          )
                          and true
                        limit
                          400
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_seed
                        ) > 400
                        or (
                          select
                            is_common
                          from
                            common_seed
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_query (
                                (
                                  select
                                    $51::uuid
                                ),
                                'seed',
                                true,
                                true,
                                (
                                  select
                                    $52::text
                                )
                              )
                          )
                          and true
                          and "search_entries"."workspace_id"::text = (
                            select
                              $53::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_seed
                            ) > 400
                            or (
                              select
                                is_common
                              from
                                common_seed
                            )
                          )
                        limit
                          400
                      ) as titled
                  ) as compared
                union all
                select
                  'evidence' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $54::uuid
                          ),
                          'evidence',
                          true,
                          false,
                          (
                            select
                              $55::text
                          )
                        )
                    ) then 4
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $56::uuid
                          ),
                          'evidence',
                          true,
                          true,
                          (
                            select
                              $57::text
                          )
                        )
                    ) then 3
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $58::uuid
                          ),
                          'evidence',
                          false,
                          false,
                          (
                            select
                              $59::text
                          )
                        )
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_evidence
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_evidence
                          ) > 400
                          or (
                            select
                              is_common
                            from
                              common_evidence
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $60::uuid
                              )
                              and "search_entries"."kind" = 'evidence'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 400
                          ) as newest
                        where
                          words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $61::uuid
                                ),
                                'evidence',
                                false,
                                true,
                                (
                                  select
                                    $62::text
                                )
                              )
                          )
                          and true
                        limit
                          400
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_evidence
                        ) > 400
                        or (
                          select
                            is_common
                          from
                            common_evidence
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_query (
                                (
                                  select
                                    $63::uuid
                                ),
                                'evidence',
                                true,
                                true,
                                (
                                  select
                                    $64::text
                                )
                              )
                          )
                          and true
                          and "search_entries"."workspace_id"::text = (
                            select
                              $65::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_evidence
                            ) > 400
                            or (
                              select
                                is_common
                              from
                                common_evidence
                            )
                          )
                        limit
                          400
                      ) as titled
                  ) as compared
                union all
                select
                  'comment' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $66::uuid
                          ),
                          'comment',
                          true,
                          false,
                          (
                            select
                              $67::text
                          )
                        )
                    ) then 4
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $68::uuid
                          ),
                          'comment',
                          true,
                          true,
                          (
                            select
                              $69::text
                          )
                        )
                    ) then 3
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $70::uuid
                          ),
                          'comment',
                          false,
                          false,
                          (
                            select
                              $71::text
                          )
                        )
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_comment
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_comment
                          ) > 400
                          or (
                            select
                              is_common
                            from
                              common_comment
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $72::uuid
                              )
                              and "search_entries"."kind" = 'comment'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 400
                          ) as newest
                        where
                          words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $73::uuid
                                ),
                                'comment',
                                false,
                                true,
                                (
                                  select
                                    $74::text
                                )
                              )
                          )
                          and true
                        limit
                          400
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_comment
                        ) > 400
                        or (
                          select
                            is_common
                          from
                            common_comment
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_query (
                                (
                                  select
                                    $75::uuid
                                ),
                                'comment',
                                true,
                                true,
                                (
                                  select
                                    $76::text
                                )
                              )
                          )
                          and true
                          and "search_entries"."workspace_id"::text = (
                            select
                              $77::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_comment
                            ) > 400
                            or (
                              select
                                is_common
                              from
                                common_comment
                            )
                          )
                        limit
                          400
                      ) as titled
                  ) as compared
                union all
                select
                  'person' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $78::uuid
                          ),
                          'person',
                          true,
                          false,
                          (
                            select
                              $79::text
                          )
                        )
                    ) then 4
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $80::uuid
                          ),
                          'person',
                          true,
                          true,
                          (
                            select
                              $81::text
                          )
                        )
                    ) then 3
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $82::uuid
                          ),
                          'person',
                          false,
                          false,
                          (
                            select
                              $83::text
                          )
                        )
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_person
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_person
                          ) > 400
                          or (
                            select
                              is_common
                            from
                              common_person
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $84::uuid
                              )
                              and "search_entries"."kind" = 'person'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 400
                          ) as newest
                        where
                          words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $85::uuid
                                ),
                                'person',
                                false,
                                true,
                                (
                                  select
                                    $86::text
                                )
                              )
                          )
                          and true
                        limit
                          400
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_person
                        ) > 400
                        or (
                          select
                            is_common
                          from
                            common_person
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_query (
                                (
                                  select
                                    $87::uuid
                                ),
                                'person',
                                true,
                                true,
                                (
                                  select
                                    $88::text
                                )
                              )
                          )
                          and true
                          and "search_entries"."workspace_id"::text = (
                            select
                              $89::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_person
                            ) > 400
                            or (
                              select
                                is_common
                              from
                                common_person
                            )
                          )
                        limit
                          400
                      ) as titled
                  ) as compared
                union all
                select
                  'team' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $90::uuid
                          ),
                          'team',
                          true,
                          false,
                          (
                            select
                              $91::text
                          )
                        )
                    ) then 4
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $92::uuid
                          ),
                          'team',
                          true,
                          true,
                          (
                            select
                              $93::text
                          )
                        )
                    ) then 3
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $94::uuid
                          ),
                          'team',
                          false,
                          false,
                          (
                            select
                              $95::text
                          )
                        )
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_team
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_team
                          ) > 400
                          or (
                            select
                              is_common
                            from
                              common_team
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $96::uuid
                              )
                              and "search_entries"."kind" = 'team'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 400
                          ) as newest
                        where
                          words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $97::uuid
                                ),
                                'team',
                                false,
                                true,
                                (
                                  select
                                    $98::text
                                )
                              )
                          )
                          and true
                        limit
                          400
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_team
                        ) > 400
                        or (
                          select
                            is_common
                          from
                            common_team
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_query (
                                (
                                  select
                                    $99::uuid
                                ),
                                'team',
                                true,
                                true,
                                (
                                  select
                                    $100::text
                                )
                              )
                          )
                          and true
                          and "search_entries"."workspace_id"::text = (
                            select
                              $101::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_team
                            ) > 400
                            or (
                              select
                                is_common
                              from
                                common_team
                            )
                          )
                        limit
                          400
                      ) as titled
                  ) as compared
              ) as candidates
          ) as found
        where
          (rank, at, id) < (
            (
              select
                $102::int
            ),
            (
              select
                $103::timestamptz
            ),
            (
              select
                $104::uuid
            )
          )
        order by
          rank desc,
          at desc,
          id desc
        limit
          (
            select
              $105::int
          )
      ) as page
      left join "evidence" on page.kind = 'evidence'
      and "evidence"."id" = page.id
      left join "comments" on page.kind = 'comment'
      and "comments"."id" = page.id
      left join "seeds" on "seeds"."id" = coalesce(
        "evidence"."seed_id",
        "comments"."seed_id",
        case page.kind
          when 'seed' then page.id
        end
      )
      left join "users" on page.kind = 'person'
      and "users"."id" = page.id
      left join "teams" on page.kind = 'team'
      and "teams"."id" = page.id
      cross join lateral (
        select
          text,
          greatest(
            1,
            position(
              (
                select
                  coalesce(
                    (
                      search_words (
                        (
                          select
                            $106::text
                        )
                      )
                    ) [1],
                    ''
                  )
              ) in search_form (text)
            ) - 60
          ) as start
        from
          (
            select
              case page.kind
                when 'seed' then "seeds"."summary"
                when 'evidence' then "evidence"."summary"
                when 'comment' then regexp_replace("comments"."body", '\[@[^]]*\]\((?:user|agent):[0-9a-f-]{36}\)', '@…', 'g')
              end as text
            offset
              0
          ) as found_text
        offset
          0
      ) as source
    order by
      page.rank desc,
      page.at desc,
      page.id desc
  ) as rows;

-- search_select_filtered
select
  coalesce(string_agg(rows.item::text, E',\n'), '') as "text",
  count(*)::int as "count",
  coalesce(
    string_agg(
      rows.rank || ' ' || (
        extract(
          epoch
          from
            rows.at
        ) * 1000
      )::bigint::text,
      ','
    ),
    ''
  ) as "ranks"
from
  (
    select
      row_to_json(
        (
          select
            item
          from
            (
              select
                page.kind as "kind",
                page.id as "id",
                coalesce("seeds"."title", "users"."name", "teams"."name") as "title",
                case page.kind
                  when 'person' then "users"."email"
                  when 'team' then null
                  else case
                    when source.start > 1 then '…'
                    else ''
                  end || substr(source.text, source.start, 160) || case
                    when length(source.text) >= source.start + 160 then '…'
                    else ''
                  end
                end as "excerpt",
                "seeds"."id" as "seedId",
                "seeds"."status" as "seedStatus",
                $1::text || case page.kind
                  when 'person' then '/people/' || page.id
                  when 'team' then '/teams/' || page.id
                  when 'seed' then '/seeds/' || page.id
                  else '/seeds/' || "seeds"."id" || '#' || page.kind || '-' || page.id
                end as "path"
            ) as item
        )
      ) as item,
      page.at,
      page.rank
    from
      (
        with
          common_seed as materialized (
            select
              'seed' = any (
                (
                  select
                    $2::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $3::uuid
                      )
                      and "search_entries"."kind" = 'seed'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_query (
                        (
                          select
                            $4::uuid
                        ),
                        'seed',
                        false,
                        true,
                        (
                          select
                            $5::text
                        )
                      )
                  )
              ) as is_common
          ),
          matching_seed as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_query (
                    (
                      select
                        $6::uuid
                    ),
                    'seed',
                    false,
                    true,
                    (
                      select
                        $7::text
                    )
                  )
              )
              and true
              and "search_entries"."workspace_id"::text = (
                select
                  $8::uuid
              )::text
              and 'seed' = any (
                (
                  select
                    $9::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_seed
              )
            limit
              1000 + 1
          ),
          common_evidence as materialized (
            select
              'evidence' = any (
                (
                  select
                    $10::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $11::uuid
                      )
                      and "search_entries"."kind" = 'evidence'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_query (
                        (
                          select
                            $12::uuid
                        ),
                        'evidence',
                        false,
                        true,
                        (
                          select
                            $13::text
                        )
                      )
                  )
              ) as is_common
          ),
          matching_evidence as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_query (
                    (
                      select
                        $14::uuid
                    ),
                    'evidence',
                    false,
                    true,
                    (
                      select
                        $15::text
                    )
                  )
              )
              and true
              and "search_entries"."workspace_id"::text = (
                select
                  $16::uuid
              )::text
              and 'evidence' = any (
                (
                  select
                    $17::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_evidence
              )
            limit
              1000 + 1
          ),
          common_comment as materialized (
            select
              'comment' = any (
                (
                  select
                    $18::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $19::uuid
                      )
                      and "search_entries"."kind" = 'comment'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_query (
                        (
                          select
                            $20::uuid
                        ),
                        'comment',
                        false,
                        true,
                        (
                          select
                            $21::text
                        )
                      )
                  )
              ) as is_common
          ),
          matching_comment as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_query (
                    (
                      select
                        $22::uuid
                    ),
                    'comment',
                    false,
                    true,
                    (
                      select
                        $23::text
                    )
                  )
              )
              and true
              and "search_entries"."workspace_id"::text = (
                select
                  $24::uuid
              )::text
              and 'comment' = any (
                (
                  select
                    $25::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_comment
              )
            limit
              1000 + 1
          )
        select
          kind,
          id,
          at,
          rank
        from
          (
            select distinct
              kind,
              id,
              at,
              rank
            from
              (
                select
                  'seed' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $26::uuid
                          ),
                          'seed',
                          true,
                          false,
                          (
                            select
                              $27::text
                          )
                        )
                    ) then 4
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $28::uuid
                          ),
                          'seed',
                          true,
                          true,
                          (
                            select
                              $29::text
                          )
                        )
                    ) then 3
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $30::uuid
                          ),
                          'seed',
                          false,
                          false,
                          (
                            select
                              $31::text
                          )
                        )
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_seed
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_seed
                          ) > 1000
                          or (
                            select
                              is_common
                            from
                              common_seed
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $32::uuid
                              )
                              and "search_entries"."kind" = 'seed'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 1000
                          ) as newest
                        where
                          words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $33::uuid
                                ),
                                'seed',
                                false,
                                true,
                                (
                                  select
                                    $34::text
                                )
                              )
                          )
                          and true
                        limit
                          1000
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_seed
                        ) > 1000
                        or (
                          select
                            is_common
                          from
                            common_seed
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_query (
                                (
                                  select
                                    $35::uuid
                                ),
                                'seed',
                                true,
                                true,
                                (
                                  select
                                    $36::text
                                )
                              )
                          )
                          and true
                          and "search_entries"."workspace_id"::text = (
                            select
                              $37::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_seed
                            ) > 1000
                            or (
                              select
                                is_common
                              from
                                common_seed
                            )
                          )
                        limit
                          1000
                      ) as titled
                  ) as compared
                where
                  exists (
                    select
                    from
                      "seeds"
                    where
                      "seeds"."id" = compared.id
                      and "seeds"."workspace_id" = (
                        select
                          $38::uuid
                      )
                      and (
                        (
                          select
                            $39::uuid[]
                        )::uuid[] = '{}'
                        or exists (
                          select
                          from
                            "teams"
                          where
                            "teams"."id" = "seeds"."team_id"
                            and "teams"."id" = any (
                              (
                                select
                                  $40::uuid[]
                              )::uuid[]
                            )
                        )
                      )
                      and (
                        (
                          select
                            $41::uuid[]
                        )::uuid[] = '{}'
                        or exists (
                          select
                          from
                            "labels"
                          where
                            "labels"."id" = any ("seeds"."label_ids")
                            and "labels"."id" = any (
                              (
                                select
                                  $42::uuid[]
                              )::uuid[]
                            )
                        )
                      )
                      and (
                        (
                          select
                            $43::text[]
                        )::text[] = '{}'
                        or "seeds"."status" = any (
                          (
                            select
                              $44::text[]
                          )::text[]
                        )
                      )
                      and (
                        (
                          select
                            $45::uuid[]
                        )::uuid[] = '{}'
                        or "seeds"."lead_user_id" = any (
                          (
                            select
                              $46::uuid[]
                          )::uuid[]
                        )
                      )
                      and (
                        not (
                          select
                            $47::boolean
                        )
                        or "seeds"."lead_user_id" is null
                      )
                      and (
                        (
                          select
                            $48::text
                        ) is null
                        or case (
                            select
                              $49::text
                          )
                          when 'for' then "seeds"."supports_count" > "seeds"."contradicts_count"
                          when 'against' then "seeds"."supports_count" < "seeds"."contradicts_count"
                          when 'even' then (
                            "seeds"."supports_count" = "seeds"."contradicts_count"
                            and "seeds"."supports_count" > - "seeds"."neutral_count"
                          )
                          when 'none' then ("seeds"."supports_count", "seeds"."contradicts_count", "seeds"."neutral_count") = (0, 0, 0)
                        end
                      )
                      and (
                        (
                          select
                            $50::timestamptz
                        ) is null
                        or (
                          coalesce("seeds"."last_evidence_at", "seeds"."created_at") < (
                            select
                              $51::timestamptz
                          )
                          and "seeds"."status" not in ('validated', 'dropped')
                        )
                      )
                      and (
                        (
                          select
                            $52::date
                        ) is null
                        or (
                          "seeds"."decide_by" between coalesce(
                            (
                              select
                                $53::date
                            ),
                            '-infinity'
                          ) and (
                            select
                              $54::date
                          )
                          and "seeds"."status" not in ('validated', 'dropped')
                        )
                      )
                  )
                union all
                select
                  'evidence' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $55::uuid
                          ),
                          'evidence',
                          true,
                          false,
                          (
                            select
                              $56::text
                          )
                        )
                    ) then 4
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $57::uuid
                          ),
                          'evidence',
                          true,
                          true,
                          (
                            select
                              $58::text
                          )
                        )
                    ) then 3
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $59::uuid
                          ),
                          'evidence',
                          false,
                          false,
                          (
                            select
                              $60::text
                          )
                        )
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_evidence
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_evidence
                          ) > 1000
                          or (
                            select
                              is_common
                            from
                              common_evidence
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $61::uuid
                              )
                              and "search_entries"."kind" = 'evidence'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 1000
                          ) as newest
                        where
                          words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $62::uuid
                                ),
                                'evidence',
                                false,
                                true,
                                (
                                  select
                                    $63::text
                                )
                              )
                          )
                          and true
                        limit
                          1000
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_evidence
                        ) > 1000
                        or (
                          select
                            is_common
                          from
                            common_evidence
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_query (
                                (
                                  select
                                    $64::uuid
                                ),
                                'evidence',
                                true,
                                true,
                                (
                                  select
                                    $65::text
                                )
                              )
                          )
                          and true
                          and "search_entries"."workspace_id"::text = (
                            select
                              $66::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_evidence
                            ) > 1000
                            or (
                              select
                                is_common
                              from
                                common_evidence
                            )
                          )
                        limit
                          1000
                      ) as titled
                  ) as compared
                where
                  exists (
                    select
                    from
                      "evidence"
                      join "seeds" on "seeds"."id" = "evidence"."seed_id"
                    where
                      "evidence"."id" = compared.id
                      and "seeds"."workspace_id" = (
                        select
                          $67::uuid
                      )
                      and (
                        (
                          select
                            $68::uuid[]
                        )::uuid[] = '{}'
                        or exists (
                          select
                          from
                            "teams"
                          where
                            "teams"."id" = "seeds"."team_id"
                            and "teams"."id" = any (
                              (
                                select
                                  $69::uuid[]
                              )::uuid[]
                            )
                        )
                      )
                      and (
                        (
                          select
                            $70::uuid[]
                        )::uuid[] = '{}'
                        or exists (
                          select
                          from
                            "labels"
                          where
                            "labels"."id" = any ("seeds"."label_ids")
                            and "labels"."id" = any (
                              (
                                select
                                  $71::uuid[]
                              )::uuid[]
                            )
                        )
                      )
                      and (
                        (
                          select
                            $72::text[]
                        )::text[] = '{}'
                        or "seeds"."status" = any (
                          (
                            select
                              $73::text[]
                          )::text[]
                        )
                      )
                      and (
                        (
                          select
                            $74::uuid[]
                        )::uuid[] = '{}'
                        or "seeds"."lead_user_id" = any (
                          (
                            select
                              $75::uuid[]
                          )::uuid[]
                        )
                      )
                      and (
                        not (
                          select
                            $76::boolean
                        )
                        or "seeds"."lead_user_id" is null
                      )
                      and (
                        (
                          select
                            $77::text
                        ) is null
                        or case (
                            select
                              $78::text
                          )
                          when 'for' then "seeds"."supports_count" > "seeds"."contradicts_count"
                          when 'against' then "seeds"."supports_count" < "seeds"."contradicts_count"
                          when 'even' then (
                            "seeds"."supports_count" = "seeds"."contradicts_count"
                            and "seeds"."supports_count" > - "seeds"."neutral_count"
                          )
                          when 'none' then ("seeds"."supports_count", "seeds"."contradicts_count", "seeds"."neutral_count") = (0, 0, 0)
                        end
                      )
                      and (
                        (
                          select
                            $79::timestamptz
                        ) is null
                        or (
                          coalesce("seeds"."last_evidence_at", "seeds"."created_at") < (
                            select
                              $80::timestamptz
                          )
                          and "seeds"."status" not in ('validated', 'dropped')
                        )
                      )
                      and (
                        (
                          select
                            $81::date
                        ) is null
                        or (
                          "seeds"."decide_by" between coalesce(
                            (
                              select
                                $82::date
                            ),
                            '-infinity'
                          ) and (
                            select
                              $83::date
                          )
                          and "seeds"."status" not in ('validated', 'dropped')
                        )
                      )
                  )
                union all
                select
                  'comment' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $84::uuid
                          ),
                          'comment',
                          true,
                          false,
                          (
                            select
                              $85::text
                          )
                        )
                    ) then 4
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $86::uuid
                          ),
                          'comment',
                          true,
                          true,
                          (
                            select
                              $87::text
                          )
                        )
                    ) then 3
                    when words @@ (
                      select
                        search_query (
                          (
                            select
                              $88::uuid
                          ),
                          'comment',
                          false,
                          false,
                          (
                            select
                              $89::text
                          )
                        )
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_comment
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_comment
                          ) > 1000
                          or (
                            select
                              is_common
                            from
                              common_comment
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $90::uuid
                              )
                              and "search_entries"."kind" = 'comment'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 1000
                          ) as newest
                        where
                          words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $91::uuid
                                ),
                                'comment',
                                false,
                                true,
                                (
                                  select
                                    $92::text
                                )
                              )
                          )
                          and true
                        limit
                          1000
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_comment
                        ) > 1000
                        or (
                          select
                            is_common
                          from
                            common_comment
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_query (
                                (
                                  select
                                    $93::uuid
                                ),
                                'comment',
                                true,
                                true,
                                (
                                  select
                                    $94::text
                                )
                              )
                          )
                          and true
                          and "search_entries"."workspace_id"::text = (
                            select
                              $95::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_comment
                            ) > 1000
                            or (
                              select
                                is_common
                              from
                                common_comment
                            )
                          )
                        limit
                          1000
                      ) as titled
                  ) as compared
                where
                  exists (
                    select
                    from
                      "comments"
                      join "seeds" on "seeds"."id" = "comments"."seed_id"
                    where
                      "comments"."id" = compared.id
                      and "seeds"."workspace_id" = (
                        select
                          $96::uuid
                      )
                      and (
                        (
                          select
                            $97::uuid[]
                        )::uuid[] = '{}'
                        or exists (
                          select
                          from
                            "teams"
                          where
                            "teams"."id" = "seeds"."team_id"
                            and "teams"."id" = any (
                              (
                                select
                                  $98::uuid[]
                              )::uuid[]
                            )
                        )
                      )
                      and (
                        (
                          select
                            $99::uuid[]
                        )::uuid[] = '{}'
                        or exists (
                          select
                          from
                            "labels"
                          where
                            "labels"."id" = any ("seeds"."label_ids")
                            and "labels"."id" = any (
                              (
                                select
                                  $100::uuid[]
                              )::uuid[]
                            )
                        )
                      )
                      and (
                        (
                          select
                            $101::text[]
                        )::text[] = '{}'
                        or "seeds"."status" = any (
                          (
                            select
                              $102::text[]
                          )::text[]
                        )
                      )
                      and (
                        (
                          select
                            $103::uuid[]
                        )::uuid[] = '{}'
                        or "seeds"."lead_user_id" = any (
                          (
                            select
                              $104::uuid[]
                          )::uuid[]
                        )
                      )
                      and (
                        not (
                          select
                            $105::boolean
                        )
                        or "seeds"."lead_user_id" is null
                      )
                      and (
                        (
                          select
                            $106::text
                        ) is null
                        or case (
                            select
                              $107::text
                          )
                          when 'for' then "seeds"."supports_count" > "seeds"."contradicts_count"
                          when 'against' then "seeds"."supports_count" < "seeds"."contradicts_count"
                          when 'even' then (
                            "seeds"."supports_count" = "seeds"."contradicts_count"
                            and "seeds"."supports_count" > - "seeds"."neutral_count"
                          )
                          when 'none' then ("seeds"."supports_count", "seeds"."contradicts_count", "seeds"."neutral_count") = (0, 0, 0)
                        end
                      )
                      and (
                        (
                          select
                            $108::timestamptz
                        ) is null
                        or (
                          coalesce("seeds"."last_evidence_at", "seeds"."created_at") < (
                            select
                              $109::timestamptz
                          )
                          and "seeds"."status" not in ('validated', 'dropped')
                        )
                      )
                      and (
                        (
                          select
                            $110::date
                        ) is null
                        or (
                          "seeds"."decide_by" between coalesce(
                            (
                              select
                                $111::date
                            ),
                            '-infinity'
                          ) and (
                            select
                              $112::date
                          )
                          and "seeds"."status" not in ('validated', 'dropped')
                        )
                      )
                  )
              ) as candidates
          ) as found
        where
          (rank, at, id) < (
            (
              select
                $113::int
            ),
            (
              select
                $114::timestamptz
            ),
            (
              select
                $115::uuid
            )
          )
        order by
          rank desc,
          at desc,
          id desc
        limit
          (
            select
              $116::int
          )
      ) as page
      left join "evidence" on page.kind = 'evidence'
      and "evidence"."id" = page.id
      left join "comments" on page.kind = 'comment'
      and "comments"."id" = page.id
      left join "seeds" on "seeds"."id" = coalesce(
        "evidence"."seed_id",
        "comments"."seed_id",
        case page.kind
          when 'seed' then page.id
        end
      )
      left join "users" on page.kind = 'person'
      and "users"."id" = page.id
      left join "teams" on page.kind = 'team'
      and "teams"."id" = page.id
      cross join lateral (
        select
          text,
          greatest(
            1,
            position(
              (
                select
                  coalesce(
                    (
                      search_words (
                        (
                          select
                            $117::text
                        )
                      )
                    ) [1],
                    ''
                  )
              ) in search_form (text)
            ) - 60
          ) as start
        from
          (
            select
              case page.kind
                when 'seed' then "seeds"."summary"
                when 'evidence' then "evidence"."summary"
                when 'comment' then regexp_replace("comments"."body", '\[@[^]]*\]\((?:user|agent):[0-9a-f-]{36}\)', '@…', 'g')
              end as text
            offset
              0
          ) as found_text
        offset
          0
      ) as source
    order by
      page.rank desc,
      page.at desc,
      page.id desc
  ) as rows;

-- search_select_filtered_similar
select
  coalesce(string_agg(rows.item::text, E',\n'), '') as "text",
  count(*)::int as "count",
  coalesce(
    string_agg(
      rows.rank || ' ' || (
        extract(
          epoch
          from
            rows.at
        ) * 1000
      )::bigint::text,
      ','
    ),
    ''
  ) as "ranks"
from
  (
    select
      row_to_json(
        (
          select
            item
          from
            (
              select
                page.kind as "kind",
                page.id as "id",
                coalesce("seeds"."title", "users"."name", "teams"."name") as "title",
                case page.kind
                  when 'person' then "users"."email"
                  when 'team' then null
                  else case
                    when source.start > 1 then '…'
                    else ''
                  end || substr(source.text, source.start, 160) || case
                    when length(source.text) >= source.start + 160 then '…'
                    else ''
                  end
                end as "excerpt",
                "seeds"."id" as "seedId",
                "seeds"."status" as "seedStatus",
                $1::text || case page.kind
                  when 'person' then '/people/' || page.id
                  when 'team' then '/teams/' || page.id
                  when 'seed' then '/seeds/' || page.id
                  else '/seeds/' || "seeds"."id" || '#' || page.kind || '-' || page.id
                end as "path"
            ) as item
        )
      ) as item,
      page.at,
      page.rank
    from
      (
        with
          similar_forms as materialized (
            select
              search_similar_form (
                true,
                true,
                (
                  select
                    $2::text
                ),
                true
              ) as of_names,
              search_similar_form (
                true,
                false,
                (
                  select
                    $3::text
                ),
                true
              ) as of_texts,
              search_similar_form (
                false,
                false,
                (
                  select
                    $4::text
                ),
                true
              ) as of_words
          ),
          common_seed as materialized (
            select
              'seed' = any (
                (
                  select
                    $5::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $6::uuid
                      )
                      and "search_entries"."kind" = 'seed'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_in_scope (
                        (
                          select
                            $7::uuid
                        ),
                        'seed',
                        false,
                        of_names
                      )
                    from
                      similar_forms
                  )
              ) as is_common
          ),
          matching_seed as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_in_scope (
                    (
                      select
                        $8::uuid
                    ),
                    'seed',
                    false,
                    of_names
                  )
                from
                  similar_forms
              )
              and not words @@ (
                select
                  search_query (
                    (
                      select
                        $9::uuid
                    ),
                    'seed',
                    false,
                    true,
                    (
                      select
                        $10::text
                    )
                  )
              )
              and "search_entries"."workspace_id"::text = (
                select
                  $11::uuid
              )::text
              and 'seed' = any (
                (
                  select
                    $12::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_seed
              )
            limit
              1000 + 1
          ),
          common_evidence as materialized (
            select
              'evidence' = any (
                (
                  select
                    $13::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $14::uuid
                      )
                      and "search_entries"."kind" = 'evidence'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_in_scope (
                        (
                          select
                            $15::uuid
                        ),
                        'evidence',
                        false,
                        of_texts
                      )
                    from
                      similar_forms
                  )
              ) as is_common
          ),
          matching_evidence as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_in_scope (
                    (
                      select
                        $16::uuid
                    ),
                    'evidence',
                    false,
                    of_texts
                  )
                from
                  similar_forms
              )
              and not words @@ (
                select
                  search_query (
                    (
                      select
                        $17::uuid
                    ),
                    'evidence',
                    false,
                    true,
                    (
                      select
                        $18::text
                    )
                  )
              )
              and "search_entries"."workspace_id"::text = (
                select
                  $19::uuid
              )::text
              and 'evidence' = any (
                (
                  select
                    $20::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_evidence
              )
            limit
              1000 + 1
          ),
          common_comment as materialized (
            select
              'comment' = any (
                (
                  select
                    $21::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $22::uuid
                      )
                      and "search_entries"."kind" = 'comment'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_in_scope (
                        (
                          select
                            $23::uuid
                        ),
                        'comment',
                        false,
                        of_texts
                      )
                    from
                      similar_forms
                  )
              ) as is_common
          ),
          matching_comment as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_in_scope (
                    (
                      select
                        $24::uuid
                    ),
                    'comment',
                    false,
                    of_texts
                  )
                from
                  similar_forms
              )
              and not words @@ (
                select
                  search_query (
                    (
                      select
                        $25::uuid
                    ),
                    'comment',
                    false,
                    true,
                    (
                      select
                        $26::text
                    )
                  )
              )
              and "search_entries"."workspace_id"::text = (
                select
                  $27::uuid
              )::text
              and 'comment' = any (
                (
                  select
                    $28::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_comment
              )
            limit
              1000 + 1
          )
        select
          kind,
          id,
          at,
          rank
        from
          (
            select distinct
              kind,
              id,
              at,
              rank
            from
              (
                select
                  'seed' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $29::uuid
                          ),
                          'seed',
                          true,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 4
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $30::uuid
                          ),
                          'seed',
                          true,
                          of_names
                        )
                      from
                        similar_forms
                    ) then 3
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $31::uuid
                          ),
                          'seed',
                          false,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_seed
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_seed
                          ) > 1000
                          or (
                            select
                              is_common
                            from
                              common_seed
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $32::uuid
                              )
                              and "search_entries"."kind" = 'seed'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 1000
                          ) as newest
                        where
                          words @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $33::uuid
                                ),
                                'seed',
                                false,
                                of_names
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $34::uuid
                                ),
                                'seed',
                                false,
                                true,
                                (
                                  select
                                    $35::text
                                )
                              )
                          )
                        limit
                          1000
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_seed
                        ) > 1000
                        or (
                          select
                            is_common
                          from
                            common_seed
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $36::uuid
                                ),
                                'seed',
                                true,
                                of_names
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $37::uuid
                                ),
                                'seed',
                                false,
                                true,
                                (
                                  select
                                    $38::text
                                )
                              )
                          )
                          and "search_entries"."workspace_id"::text = (
                            select
                              $39::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_seed
                            ) > 1000
                            or (
                              select
                                is_common
                              from
                                common_seed
                            )
                          )
                        limit
                          1000
                      ) as titled
                  ) as compared
                where
                  exists (
                    select
                    from
                      "seeds"
                    where
                      "seeds"."id" = compared.id
                      and "seeds"."workspace_id" = (
                        select
                          $40::uuid
                      )
                      and (
                        (
                          select
                            $41::uuid[]
                        )::uuid[] = '{}'
                        or exists (
                          select
                          from
                            "teams"
                          where
                            "teams"."id" = "seeds"."team_id"
                            and "teams"."id" = any (
                              (
                                select
                                  $42::uuid[]
                              )::uuid[]
                            )
                        )
                      )
                      and (
                        (
                          select
                            $43::uuid[]
                        )::uuid[] = '{}'
                        or exists (
                          select
                          from
                            "labels"
                          where
                            "labels"."id" = any ("seeds"."label_ids")
                            and "labels"."id" = any (
                              (
                                select
                                  $44::uuid[]
                              )::uuid[]
                            )
                        )
                      )
                      and (
                        (
                          select
                            $45::text[]
                        )::text[] = '{}'
                        or "seeds"."status" = any (
                          (
                            select
                              $46::text[]
                          )::text[]
                        )
                      )
                      and (
                        (
                          select
                            $47::uuid[]
                        )::uuid[] = '{}'
                        or "seeds"."lead_user_id" = any (
                          (
                            select
                              $48::uuid[]
                          )::uuid[]
                        )
                      )
                      and (
                        not (
                          select
                            $49::boolean
                        )
                        or "seeds"."lead_user_id" is null
                      )
                      and (
                        (
                          select
                            $50::text
                        ) is null
                        or case (
                            select
                              $51::text
                          )
                          when 'for' then "seeds"."supports_count" > "seeds"."contradicts_count"
                          when 'against' then "seeds"."supports_count" < "seeds"."contradicts_count"
                          when 'even' then (
                            "seeds"."supports_count" = "seeds"."contradicts_count"
                            and "seeds"."supports_count" > - "seeds"."neutral_count"
                          )
                          when 'none' then ("seeds"."supports_count", "seeds"."contradicts_count", "seeds"."neutral_count") = (0, 0, 0)
                        end
                      )
                      and (
                        (
                          select
                            $52::timestamptz
                        ) is null
                        or (
                          coalesce("seeds"."last_evidence_at", "seeds"."created_at") < (
                            select
                              $53::timestamptz
                          )
                          and "seeds"."status" not in ('validated', 'dropped')
                        )
                      )
                      and (
                        (
                          select
                            $54::date
                        ) is null
                        or (
                          "seeds"."decide_by" between coalesce(
                            (
                              select
                                $55::date
                            ),
                            '-infinity'
                          ) and (
                            select
                              $56::date
                          )
                          and "seeds"."status" not in ('validated', 'dropped')
                        )
                      )
                  )
                union all
                select
                  'evidence' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $57::uuid
                          ),
                          'evidence',
                          true,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 4
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $58::uuid
                          ),
                          'evidence',
                          true,
                          of_texts
                        )
                      from
                        similar_forms
                    ) then 3
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $59::uuid
                          ),
                          'evidence',
                          false,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_evidence
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_evidence
                          ) > 1000
                          or (
                            select
                              is_common
                            from
                              common_evidence
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $60::uuid
                              )
                              and "search_entries"."kind" = 'evidence'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 1000
                          ) as newest
                        where
                          words @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $61::uuid
                                ),
                                'evidence',
                                false,
                                of_texts
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $62::uuid
                                ),
                                'evidence',
                                false,
                                true,
                                (
                                  select
                                    $63::text
                                )
                              )
                          )
                        limit
                          1000
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_evidence
                        ) > 1000
                        or (
                          select
                            is_common
                          from
                            common_evidence
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $64::uuid
                                ),
                                'evidence',
                                true,
                                of_texts
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $65::uuid
                                ),
                                'evidence',
                                false,
                                true,
                                (
                                  select
                                    $66::text
                                )
                              )
                          )
                          and "search_entries"."workspace_id"::text = (
                            select
                              $67::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_evidence
                            ) > 1000
                            or (
                              select
                                is_common
                              from
                                common_evidence
                            )
                          )
                        limit
                          1000
                      ) as titled
                  ) as compared
                where
                  exists (
                    select
                    from
                      "evidence"
                      join "seeds" on "seeds"."id" = "evidence"."seed_id"
                    where
                      "evidence"."id" = compared.id
                      and "seeds"."workspace_id" = (
                        select
                          $68::uuid
                      )
                      and (
                        (
                          select
                            $69::uuid[]
                        )::uuid[] = '{}'
                        or exists (
                          select
                          from
                            "teams"
                          where
                            "teams"."id" = "seeds"."team_id"
                            and "teams"."id" = any (
                              (
                                select
                                  $70::uuid[]
                              )::uuid[]
                            )
                        )
                      )
                      and (
                        (
                          select
                            $71::uuid[]
                        )::uuid[] = '{}'
                        or exists (
                          select
                          from
                            "labels"
                          where
                            "labels"."id" = any ("seeds"."label_ids")
                            and "labels"."id" = any (
                              (
                                select
                                  $72::uuid[]
                              )::uuid[]
                            )
                        )
                      )
                      and (
                        (
                          select
                            $73::text[]
                        )::text[] = '{}'
                        or "seeds"."status" = any (
                          (
                            select
                              $74::text[]
                          )::text[]
                        )
                      )
                      and (
                        (
                          select
                            $75::uuid[]
                        )::uuid[] = '{}'
                        or "seeds"."lead_user_id" = any (
                          (
                            select
                              $76::uuid[]
                          )::uuid[]
                        )
                      )
                      and (
                        not (
                          select
                            $77::boolean
                        )
                        or "seeds"."lead_user_id" is null
                      )
                      and (
                        (
                          select
                            $78::text
                        ) is null
                        or case (
                            select
                              $79::text
                          )
                          when 'for' then "seeds"."supports_count" > "seeds"."contradicts_count"
                          when 'against' then "seeds"."supports_count" < "seeds"."contradicts_count"
                          when 'even' then (
                            "seeds"."supports_count" = "seeds"."contradicts_count"
                            and "seeds"."supports_count" > - "seeds"."neutral_count"
                          )
                          when 'none' then ("seeds"."supports_count", "seeds"."contradicts_count", "seeds"."neutral_count") = (0, 0, 0)
                        end
                      )
                      and (
                        (
                          select
                            $80::timestamptz
                        ) is null
                        or (
                          coalesce("seeds"."last_evidence_at", "seeds"."created_at") < (
                            select
                              $81::timestamptz
                          )
                          and "seeds"."status" not in ('validated', 'dropped')
                        )
                      )
                      and (
                        (
                          select
                            $82::date
                        ) is null
                        or (
                          "seeds"."decide_by" between coalesce(
                            (
                              select
                                $83::date
                            ),
                            '-infinity'
                          ) and (
                            select
                              $84::date
                          )
                          and "seeds"."status" not in ('validated', 'dropped')
                        )
                      )
                  )
                union all
                select
                  'comment' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $85::uuid
                          ),
                          'comment',
                          true,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 4
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $86::uuid
                          ),
                          'comment',
                          true,
                          of_texts
                        )
                      from
                        similar_forms
                    ) then 3
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $87::uuid
                          ),
                          'comment',
                          false,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_comment
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_comment
                          ) > 1000
                          or (
                            select
                              is_common
                            from
                              common_comment
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $88::uuid
                              )
                              and "search_entries"."kind" = 'comment'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 1000
                          ) as newest
                        where
                          words @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $89::uuid
                                ),
                                'comment',
                                false,
                                of_texts
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $90::uuid
                                ),
                                'comment',
                                false,
                                true,
                                (
                                  select
                                    $91::text
                                )
                              )
                          )
                        limit
                          1000
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_comment
                        ) > 1000
                        or (
                          select
                            is_common
                          from
                            common_comment
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $92::uuid
                                ),
                                'comment',
                                true,
                                of_texts
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $93::uuid
                                ),
                                'comment',
                                false,
                                true,
                                (
                                  select
                                    $94::text
                                )
                              )
                          )
                          and "search_entries"."workspace_id"::text = (
                            select
                              $95::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_comment
                            ) > 1000
                            or (
                              select
                                is_common
                              from
                                common_comment
                            )
                          )
                        limit
                          1000
                      ) as titled
                  ) as compared
                where
                  exists (
                    select
                    from
                      "comments"
                      join "seeds" on "seeds"."id" = "comments"."seed_id"
                    where
                      "comments"."id" = compared.id
                      and "seeds"."workspace_id" = (
                        select
                          $96::uuid
                      )
                      and (
                        (
                          select
                            $97::uuid[]
                        )::uuid[] = '{}'
                        or exists (
                          select
                          from
                            "teams"
                          where
                            "teams"."id" = "seeds"."team_id"
                            and "teams"."id" = any (
                              (
                                select
                                  $98::uuid[]
                              )::uuid[]
                            )
                        )
                      )
                      and (
                        (
                          select
                            $99::uuid[]
                        )::uuid[] = '{}'
                        or exists (
                          select
                          from
                            "labels"
                          where
                            "labels"."id" = any ("seeds"."label_ids")
                            and "labels"."id" = any (
                              (
                                select
                                  $100::uuid[]
                              )::uuid[]
                            )
                        )
                      )
                      and (
                        (
                          select
                            $101::text[]
                        )::text[] = '{}'
                        or "seeds"."status" = any (
                          (
                            select
                              $102::text[]
                          )::text[]
                        )
                      )
                      and (
                        (
                          select
                            $103::uuid[]
                        )::uuid[] = '{}'
                        or "seeds"."lead_user_id" = any (
                          (
                            select
                              $104::uuid[]
                          )::uuid[]
                        )
                      )
                      and (
                        not (
                          select
                            $105::boolean
                        )
                        or "seeds"."lead_user_id" is null
                      )
                      and (
                        (
                          select
                            $106::text
                        ) is null
                        or case (
                            select
                              $107::text
                          )
                          when 'for' then "seeds"."supports_count" > "seeds"."contradicts_count"
                          when 'against' then "seeds"."supports_count" < "seeds"."contradicts_count"
                          when 'even' then (
                            "seeds"."supports_count" = "seeds"."contradicts_count"
                            and "seeds"."supports_count" > - "seeds"."neutral_count"
                          )
                          when 'none' then ("seeds"."supports_count", "seeds"."contradicts_count", "seeds"."neutral_count") = (0, 0, 0)
                        end
                      )
                      and (
                        (
                          select
                            $108::timestamptz
                        ) is null
                        or (
                          coalesce("seeds"."last_evidence_at", "seeds"."created_at") < (
                            select
                              $109::timestamptz
                          )
                          and "seeds"."status" not in ('validated', 'dropped')
                        )
                      )
                      and (
                        (
                          select
                            $110::date
                        ) is null
                        or (
                          "seeds"."decide_by" between coalesce(
                            (
                              select
                                $111::date
                            ),
                            '-infinity'
                          ) and (
                            select
                              $112::date
                          )
                          and "seeds"."status" not in ('validated', 'dropped')
                        )
                      )
                  )
              ) as candidates
          ) as found
        where
          (rank, at, id) < (
            (
              select
                $113::int
            ),
            (
              select
                $114::timestamptz
            ),
            (
              select
                $115::uuid
            )
          )
        order by
          rank desc,
          at desc,
          id desc
        limit
          (
            select
              $116::int
          )
      ) as page
      left join "evidence" on page.kind = 'evidence'
      and "evidence"."id" = page.id
      left join "comments" on page.kind = 'comment'
      and "comments"."id" = page.id
      left join "seeds" on "seeds"."id" = coalesce(
        "evidence"."seed_id",
        "comments"."seed_id",
        case page.kind
          when 'seed' then page.id
        end
      )
      left join "users" on page.kind = 'person'
      and "users"."id" = page.id
      left join "teams" on page.kind = 'team'
      and "teams"."id" = page.id
      cross join lateral (
        select
          text,
          greatest(
            1,
            position(
              (
                select
                  coalesce(
                    (
                      search_words (
                        (
                          select
                            $117::text
                        )
                      )
                    ) [1],
                    ''
                  )
              ) in search_form (text)
            ) - 60
          ) as start
        from
          (
            select
              case page.kind
                when 'seed' then "seeds"."summary"
                when 'evidence' then "evidence"."summary"
                when 'comment' then regexp_replace("comments"."body", '\[@[^]]*\]\((?:user|agent):[0-9a-f-]{36}\)', '@…', 'g')
              end as text
            offset
              0
          ) as found_text
        offset
          0
      ) as source
    order by
      page.rank desc,
      page.at desc,
      page.id desc
  ) as rows;

-- search_select_similar
select
  coalesce(string_agg(rows.item::text, E',\n'), '') as "text",
  count(*)::int as "count",
  coalesce(
    string_agg(
      rows.rank || ' ' || (
        extract(
          epoch
          from
            rows.at
        ) * 1000
      )::bigint::text,
      ','
    ),
    ''
  ) as "ranks"
from
  (
    select
      row_to_json(
        (
          select
            item
          from
            (
              select
                page.kind as "kind",
                page.id as "id",
                coalesce("seeds"."title", "users"."name", "teams"."name") as "title",
                case page.kind
                  when 'person' then "users"."email"
                  when 'team' then null
                  else case
                    when source.start > 1 then '…'
                    else ''
                  end || substr(source.text, source.start, 160) || case
                    when length(source.text) >= source.start + 160 then '…'
                    else ''
                  end
                end as "excerpt",
                "seeds"."id" as "seedId",
                "seeds"."status" as "seedStatus",
                $1::text || case page.kind
                  when 'person' then '/people/' || page.id
                  when 'team' then '/teams/' || page.id
                  when 'seed' then '/seeds/' || page.id
                  else '/seeds/' || "seeds"."id" || '#' || page.kind || '-' || page.id
                end as "path"
            ) as item
        )
      ) as item,
      page.at,
      page.rank
    from
      (
        with
          similar_forms as materialized (
            select
              search_similar_form (
                true,
                true,
                (
                  select
                    $2::text
                ),
                true
              ) as of_names,
              search_similar_form (
                true,
                false,
                (
                  select
                    $3::text
                ),
                true
              ) as of_texts,
              search_similar_form (
                false,
                false,
                (
                  select
                    $4::text
                ),
                true
              ) as of_words
          ),
          common_seed as materialized (
            select
              'seed' = any (
                (
                  select
                    $5::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $6::uuid
                      )
                      and "search_entries"."kind" = 'seed'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_in_scope (
                        (
                          select
                            $7::uuid
                        ),
                        'seed',
                        false,
                        of_names
                      )
                    from
                      similar_forms
                  )
              ) as is_common
          ),
          matching_seed as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_in_scope (
                    (
                      select
                        $8::uuid
                    ),
                    'seed',
                    false,
                    of_names
                  )
                from
                  similar_forms
              )
              and not words @@ (
                select
                  search_query (
                    (
                      select
                        $9::uuid
                    ),
                    'seed',
                    false,
                    true,
                    (
                      select
                        $10::text
                    )
                  )
              )
              and "search_entries"."workspace_id"::text = (
                select
                  $11::uuid
              )::text
              and 'seed' = any (
                (
                  select
                    $12::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_seed
              )
            limit
              400 + 1
          ),
          common_evidence as materialized (
            select
              'evidence' = any (
                (
                  select
                    $13::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $14::uuid
                      )
                      and "search_entries"."kind" = 'evidence'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_in_scope (
                        (
                          select
                            $15::uuid
                        ),
                        'evidence',
                        false,
                        of_texts
                      )
                    from
                      similar_forms
                  )
              ) as is_common
          ),
          matching_evidence as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_in_scope (
                    (
                      select
                        $16::uuid
                    ),
                    'evidence',
                    false,
                    of_texts
                  )
                from
                  similar_forms
              )
              and not words @@ (
                select
                  search_query (
                    (
                      select
                        $17::uuid
                    ),
                    'evidence',
                    false,
                    true,
                    (
                      select
                        $18::text
                    )
                  )
              )
              and "search_entries"."workspace_id"::text = (
                select
                  $19::uuid
              )::text
              and 'evidence' = any (
                (
                  select
                    $20::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_evidence
              )
            limit
              400 + 1
          ),
          common_comment as materialized (
            select
              'comment' = any (
                (
                  select
                    $21::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $22::uuid
                      )
                      and "search_entries"."kind" = 'comment'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_in_scope (
                        (
                          select
                            $23::uuid
                        ),
                        'comment',
                        false,
                        of_texts
                      )
                    from
                      similar_forms
                  )
              ) as is_common
          ),
          matching_comment as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_in_scope (
                    (
                      select
                        $24::uuid
                    ),
                    'comment',
                    false,
                    of_texts
                  )
                from
                  similar_forms
              )
              and not words @@ (
                select
                  search_query (
                    (
                      select
                        $25::uuid
                    ),
                    'comment',
                    false,
                    true,
                    (
                      select
                        $26::text
                    )
                  )
              )
              and "search_entries"."workspace_id"::text = (
                select
                  $27::uuid
              )::text
              and 'comment' = any (
                (
                  select
                    $28::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_comment
              )
            limit
              400 + 1
          ),
          common_person as materialized (
            select
              'person' = any (
                (
                  select
                    $29::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $30::uuid
                      )
                      and "search_entries"."kind" = 'person'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_in_scope (
                        (
                          select
                            $31::uuid
                        ),
                        'person',
                        false,
                        of_names
                      )
                    from
                      similar_forms
                  )
              ) as is_common
          ),
          matching_person as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_in_scope (
                    (
                      select
                        $32::uuid
                    ),
                    'person',
                    false,
                    of_names
                  )
                from
                  similar_forms
              )
              and not words @@ (
                select
                  search_query (
                    (
                      select
                        $33::uuid
                    ),
                    'person',
                    false,
                    true,
                    (
                      select
                        $34::text
                    )
                  )
              )
              and "search_entries"."workspace_id"::text = (
                select
                  $35::uuid
              )::text
              and 'person' = any (
                (
                  select
                    $36::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_person
              )
            limit
              400 + 1
          ),
          common_team as materialized (
            select
              'team' = any (
                (
                  select
                    $37::text[]
                )::text[]
              )
              and (
                select
                  count(*) >= 100
                from
                  (
                    select
                      "search_entries"."id",
                      "search_entries"."at",
                      "search_entries"."words"
                    from
                      "search_entries"
                    where
                      "search_entries"."workspace_id" = (
                        select
                          $38::uuid
                      )
                      and "search_entries"."kind" = 'team'
                    order by
                      "search_entries"."at" desc,
                      "search_entries"."id" desc
                    limit
                      200
                  ) as sample
                where
                  words @@ (
                    select
                      search_in_scope (
                        (
                          select
                            $39::uuid
                        ),
                        'team',
                        false,
                        of_names
                      )
                    from
                      similar_forms
                  )
              ) as is_common
          ),
          matching_team as materialized (
            select
              "search_entries"."id",
              "search_entries"."at",
              "search_entries"."words"
            from
              "search_entries"
            where
              "search_entries"."words" @@ (
                select
                  search_in_scope (
                    (
                      select
                        $40::uuid
                    ),
                    'team',
                    false,
                    of_names
                  )
                from
                  similar_forms
              )
              and not words @@ (
                select
                  search_query (
                    (
                      select
                        $41::uuid
                    ),
                    'team',
                    false,
                    true,
                    (
                      select
                        $42::text
                    )
                  )
              )
              and "search_entries"."workspace_id"::text = (
                select
                  $43::uuid
              )::text
              and 'team' = any (
                (
                  select
                    $44::text[]
                )::text[]
              )
              and not (
                select
                  is_common
                from
                  common_team
              )
            limit
              400 + 1
          )
        select
          kind,
          id,
          at,
          rank
        from
          (
            select distinct
              kind,
              id,
              at,
              rank
            from
              (
                select
                  'seed' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $45::uuid
                          ),
                          'seed',
                          true,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 4
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $46::uuid
                          ),
                          'seed',
                          true,
                          of_names
                        )
                      from
                        similar_forms
                    ) then 3
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $47::uuid
                          ),
                          'seed',
                          false,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_seed
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_seed
                          ) > 400
                          or (
                            select
                              is_common
                            from
                              common_seed
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $48::uuid
                              )
                              and "search_entries"."kind" = 'seed'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 400
                          ) as newest
                        where
                          words @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $49::uuid
                                ),
                                'seed',
                                false,
                                of_names
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $50::uuid
                                ),
                                'seed',
                                false,
                                true,
                                (
                                  select
                                    $51::text
                                )
                              )
                          )
                        limit
                          400
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_seed
                        ) > 400
                        or (
                          select
                            is_common
                          from
                            common_seed
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $52::uuid
                                ),
                                'seed',
                                true,
                                of_names
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $53::uuid
                                ),
                                'seed',
                                false,
                                true,
                                (
                                  select
                                    $54::text
                                )
                              )
                          )
                          and "search_entries"."workspace_id"::text = (
                            select
                              $55::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_seed
                            ) > 400
                            or (
                              select
                                is_common
                              from
                                common_seed
                            )
                          )
                        limit
                          400
                      ) as titled
                  ) as compared
                union all
                select
                  'evidence' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $56::uuid
                          ),
                          'evidence',
                          true,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 4
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $57::uuid
                          ),
                          'evidence',
                          true,
                          of_texts
                        )
                      from
                        similar_forms
                    ) then 3
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $58::uuid
                          ),
                          'evidence',
                          false,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_evidence
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_evidence
                          ) > 400
                          or (
                            select
                              is_common
                            from
                              common_evidence
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $59::uuid
                              )
                              and "search_entries"."kind" = 'evidence'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 400
                          ) as newest
                        where
                          words @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $60::uuid
                                ),
                                'evidence',
                                false,
                                of_texts
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $61::uuid
                                ),
                                'evidence',
                                false,
                                true,
                                (
                                  select
                                    $62::text
                                )
                              )
                          )
                        limit
                          400
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_evidence
                        ) > 400
                        or (
                          select
                            is_common
                          from
                            common_evidence
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $63::uuid
                                ),
                                'evidence',
                                true,
                                of_texts
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $64::uuid
                                ),
                                'evidence',
                                false,
                                true,
                                (
                                  select
                                    $65::text
                                )
                              )
                          )
                          and "search_entries"."workspace_id"::text = (
                            select
                              $66::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_evidence
                            ) > 400
                            or (
                              select
                                is_common
                              from
                                common_evidence
                            )
                          )
                        limit
                          400
                      ) as titled
                  ) as compared
                union all
                select
                  'comment' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $67::uuid
                          ),
                          'comment',
                          true,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 4
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $68::uuid
                          ),
                          'comment',
                          true,
                          of_texts
                        )
                      from
                        similar_forms
                    ) then 3
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $69::uuid
                          ),
                          'comment',
                          false,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_comment
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_comment
                          ) > 400
                          or (
                            select
                              is_common
                            from
                              common_comment
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $70::uuid
                              )
                              and "search_entries"."kind" = 'comment'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 400
                          ) as newest
                        where
                          words @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $71::uuid
                                ),
                                'comment',
                                false,
                                of_texts
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $72::uuid
                                ),
                                'comment',
                                false,
                                true,
                                (
                                  select
                                    $73::text
                                )
                              )
                          )
                        limit
                          400
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_comment
                        ) > 400
                        or (
                          select
                            is_common
                          from
                            common_comment
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $74::uuid
                                ),
                                'comment',
                                true,
                                of_texts
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $75::uuid
                                ),
                                'comment',
                                false,
                                true,
                                (
                                  select
                                    $76::text
                                )
                              )
                          )
                          and "search_entries"."workspace_id"::text = (
                            select
                              $77::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_comment
                            ) > 400
                            or (
                              select
                                is_common
                              from
                                common_comment
                            )
                          )
                        limit
                          400
                      ) as titled
                  ) as compared
                union all
                select
                  'person' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $78::uuid
                          ),
                          'person',
                          true,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 4
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $79::uuid
                          ),
                          'person',
                          true,
                          of_names
                        )
                      from
                        similar_forms
                    ) then 3
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $80::uuid
                          ),
                          'person',
                          false,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_person
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_person
                          ) > 400
                          or (
                            select
                              is_common
                            from
                              common_person
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $81::uuid
                              )
                              and "search_entries"."kind" = 'person'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 400
                          ) as newest
                        where
                          words @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $82::uuid
                                ),
                                'person',
                                false,
                                of_names
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $83::uuid
                                ),
                                'person',
                                false,
                                true,
                                (
                                  select
                                    $84::text
                                )
                              )
                          )
                        limit
                          400
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_person
                        ) > 400
                        or (
                          select
                            is_common
                          from
                            common_person
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $85::uuid
                                ),
                                'person',
                                true,
                                of_names
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $86::uuid
                                ),
                                'person',
                                false,
                                true,
                                (
                                  select
                                    $87::text
                                )
                              )
                          )
                          and "search_entries"."workspace_id"::text = (
                            select
                              $88::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_person
                            ) > 400
                            or (
                              select
                                is_common
                              from
                                common_person
                            )
                          )
                        limit
                          400
                      ) as titled
                  ) as compared
                union all
                select
                  'team' as kind,
                  id,
                  at,
                  case
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $89::uuid
                          ),
                          'team',
                          true,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 4
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $90::uuid
                          ),
                          'team',
                          true,
                          of_names
                        )
                      from
                        similar_forms
                    ) then 3
                    when words @@ (
                      select
                        search_in_scope (
                          (
                            select
                              $91::uuid
                          ),
                          'team',
                          false,
                          of_words
                        )
                      from
                        similar_forms
                    ) then 2
                    else 1
                  end as rank
                from
                  (
                    select
                      id,
                      at,
                      words
                    from
                      matching_team
                    where
                      not (
                        (
                          (
                            select
                              count(*)
                            from
                              matching_team
                          ) > 400
                          or (
                            select
                              is_common
                            from
                              common_team
                          )
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          id,
                          at,
                          words
                        from
                          (
                            select
                              "search_entries"."id",
                              "search_entries"."at",
                              "search_entries"."words"
                            from
                              "search_entries"
                            where
                              "search_entries"."workspace_id" = (
                                select
                                  $92::uuid
                              )
                              and "search_entries"."kind" = 'team'
                            order by
                              "search_entries"."at" desc,
                              "search_entries"."id" desc
                            limit
                              2 * 400
                          ) as newest
                        where
                          words @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $93::uuid
                                ),
                                'team',
                                false,
                                of_names
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $94::uuid
                                ),
                                'team',
                                false,
                                true,
                                (
                                  select
                                    $95::text
                                )
                              )
                          )
                        limit
                          400
                      ) as newest_matching
                    where
                      (
                        (
                          select
                            count(*)
                          from
                            matching_team
                        ) > 400
                        or (
                          select
                            is_common
                          from
                            common_team
                        )
                      )
                    union all
                    select
                      id,
                      at,
                      words
                    from
                      (
                        select
                          "search_entries"."id",
                          "search_entries"."at",
                          "search_entries"."words"
                        from
                          "search_entries"
                        where
                          "search_entries"."words" @@ (
                            select
                              search_in_scope (
                                (
                                  select
                                    $96::uuid
                                ),
                                'team',
                                true,
                                of_names
                              )
                            from
                              similar_forms
                          )
                          and not words @@ (
                            select
                              search_query (
                                (
                                  select
                                    $97::uuid
                                ),
                                'team',
                                false,
                                true,
                                (
                                  select
                                    $98::text
                                )
                              )
                          )
                          and "search_entries"."workspace_id"::text = (
                            select
                              $99::uuid
                          )::text
                          and (
                            (
                              select
                                count(*)
                              from
                                matching_team
                            ) > 400
                            or (
                              select
                                is_common
                              from
                                common_team
                            )
                          )
                        limit
                          400
                      ) as titled
                  ) as compared
              ) as candidates
          ) as found
        where
          (rank, at, id) < (
            (
              select
                $100::int
            ),
            (
              select
                $101::timestamptz
            ),
            (
              select
                $102::uuid
            )
          )
        order by
          rank desc,
          at desc,
          id desc
        limit
          (
            select
              $103::int
          )
      ) as page
      left join "evidence" on page.kind = 'evidence'
      and "evidence"."id" = page.id
      left join "comments" on page.kind = 'comment'
      and "comments"."id" = page.id
      left join "seeds" on "seeds"."id" = coalesce(
        "evidence"."seed_id",
        "comments"."seed_id",
        case page.kind
          when 'seed' then page.id
        end
      )
      left join "users" on page.kind = 'person'
      and "users"."id" = page.id
      left join "teams" on page.kind = 'team'
      and "teams"."id" = page.id
      cross join lateral (
        select
          text,
          greatest(
            1,
            position(
              (
                select
                  coalesce(
                    (
                      search_words (
                        (
                          select
                            $104::text
                        )
                      )
                    ) [1],
                    ''
                  )
              ) in search_form (text)
            ) - 60
          ) as start
        from
          (
            select
              case page.kind
                when 'seed' then "seeds"."summary"
                when 'evidence' then "evidence"."summary"
                when 'comment' then regexp_replace("comments"."body", '\[@[^]]*\]\((?:user|agent):[0-9a-f-]{36}\)', '@…', 'g')
              end as text
            offset
              0
          ) as found_text
        offset
          0
      ) as source
    order by
      page.rank desc,
      page.at desc,
      page.id desc
  ) as rows;

-- seed_followers_delete
delete from "seed_followers"
where
  (
    "seed_followers"."workspace_id" = $1
    and "seed_followers"."seed_id" = $2
    and "seed_followers"."user_id" = $3
  );

-- seed_followers_insert
insert into
  "seed_followers" ("seed_id", "user_id", "workspace_id")
select
  $1::uuid as "seed_id",
  "user_id",
  "workspace_id"
from
  "memberships"
where
  (
    "memberships"."workspace_id" = (
      select
        $2::uuid
    )
    and "memberships"."user_id" = any (
      (
        select
          $3::uuid[]
      )::uuid[]
    )
  )
for key share
on conflict do nothing;

-- seed_lead_select
select
  "users"."id",
  "users"."name"
from
  "seeds"
  inner join "users" on "users"."id" = "seeds"."lead_user_id"
where
  (
    "seeds"."workspace_id" = $1
    and "seeds"."id" = $2
  );

-- seed_participants_insert
insert into
  "seed_participants" ("seed_id", "user_id", "workspace_id", "joined_at")
values
  ($1, $2, $3, $4);

-- seed_participants_lock
select
  "user_id"
from
  "seed_participants"
where
  (
    "seed_participants"."workspace_id" = $1
    and "seed_participants"."seed_id" = $2
    and "seed_participants"."user_id" = $3
  )
for key share;

-- seed_participants_select
select
  "users"."name",
  "memberships"."role"
from
  "seed_participants"
  inner join "memberships" on (
    "memberships"."workspace_id" = "seed_participants"."workspace_id"
    and "memberships"."user_id" = "seed_participants"."user_id"
  )
  inner join "users" on "users"."id" = "seed_participants"."user_id"
where
  (
    (
      "seed_participants"."workspace_id" = $1
      and "seed_participants"."seed_id" = $2
      and "seed_participants"."user_id" = $3
    )
    and "users"."kind" = $4
    and "users"."suspended_at" is null
  );

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
        (
          "seed_participants"."workspace_id" = (
            select
              $2::uuid
          )
          and "seed_participants"."seed_id" = $3
        )
        and ("seed_participants"."joined_at", "seed_participants"."user_id") > (
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
      "seed_participants"."joined_at" asc,
      "seed_participants"."user_id" asc
    limit
      (
        select
          $6::int
      )
  ) "rows";

-- seeds_are_words_common
select
  (
    select
      count(*) >= 100
    from
      (
        select
          "search_entries"."id",
          "search_entries"."at",
          "search_entries"."words"
        from
          "search_entries"
        where
          "search_entries"."workspace_id" = (
            select
              $1::uuid
          )
          and "search_entries"."kind" = 'seed'
        order by
          "search_entries"."at" desc,
          "search_entries"."id" desc
        limit
          200
      ) as sample
    where
      words @@ (
        select
          search_query (
            (
              select
                $2::uuid
            ),
            'seed',
            false,
            true,
            (
              select
                $3::text
            )
          )
      )
  ) as "is_common"
from
  (
    select
  ) as nothing;

-- seeds_clear_lead
update "seeds"
set
  "lead_user_id" = $1
where
  (
    "seeds"."workspace_id" = $2
    and "seeds"."id" = $3
  );

-- seeds_count_due_of_member
select
  "name",
  "slug",
  "overdue",
  "week",
  "silent"
from
  (
    select
      "workspaces"."name",
      "workspaces"."slug",
      (
        select
          count(*)::int
        from
          (
            select
            from
              "seeds"
            where
              "seeds"."workspace_id" = "memberships"."workspace_id"
              and "seeds"."deleted_at" is null
              and "seeds"."status" not in ('validated', 'dropped')
              and "seeds"."decide_by" < (
                select
                  $1::date
              )
            limit
              100
          ) as due
      ) as "overdue",
      (
        select
          count(*)::int
        from
          (
            select
            from
              "seeds"
            where
              "seeds"."workspace_id" = "memberships"."workspace_id"
              and "seeds"."deleted_at" is null
              and "seeds"."status" not in ('validated', 'dropped')
              and "seeds"."decide_by" between (
                select
                  $2::date
              ) and (
                select
                  $3::date
              )
            limit
              100
          ) as due
      ) as "week",
      (
        select
          count(*)::int
        from
          (
            select
            from
              "seeds"
            where
              "seeds"."workspace_id" = "memberships"."workspace_id"
              and "seeds"."deleted_at" is null
              and "seeds"."status" not in ('validated', 'dropped')
              and coalesce("seeds"."last_evidence_at", "seeds"."created_at") < (
                select
                  $4::timestamptz
              )
            limit
              100
          ) as due
      ) as "silent"
    from
      "memberships"
      inner join "workspaces" on (
        "workspaces"."id" = "memberships"."workspace_id"
        and "workspaces"."deleted_at" is null
      )
    where
      "memberships"."user_id" = $5
    order by
      "workspaces"."name",
      "workspaces"."id"
    limit
      30
  ) "counted"
where
  "overdue" + "week" + "silent" > 0;

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
    "criteria",
    "question",
    "decide_by",
    "reminded_for",
    "status",
    "status_changed_at",
    "status_reason",
    "status_changed_by_user_id",
    "status_changed_by_name",
    "created_by_user_id",
    "agent_name",
    "grant_id",
    "lead_user_id",
    "team_id",
    "label_ids",
    "created_at",
    "updated_at",
    "deleted_at",
    "merged_into_seed_id",
    "merged_at",
    "merged_by_user_id",
    "supports_count",
    "contradicts_count",
    "neutral_count",
    "comment_count",
    "participant_count",
    "last_evidence_at",
    "last_comment_at",
    "activity_at"
  )
values
  (
    $1,
    $2,
    $3,
    $4,
    $5,
    $6,
    $7,
    $8,
    $9,
    $10,
    $11,
    default,
    $12,
    default,
    default,
    default,
    default,
    $13,
    $14,
    $15,
    $16,
    $17,
    $18,
    $19,
    $20,
    default,
    default,
    default,
    default,
    default,
    default,
    default,
    default,
    default,
    default,
    default,
    default
  );

-- seeds_lock
select
  "title",
  "summary",
  "problem",
  "audience",
  "hypothesis",
  "success_criteria",
  "criteria",
  "status",
  "lead_user_id",
  "question",
  "decide_by",
  (
    select
      "teams"."id"
    from
      "teams"
    where
      "teams"."id" = "seeds"."team_id"
  ),
  array(
    select
      "labels"."id"
    from
      "labels"
    where
      "labels"."id" = any ("seeds"."label_ids")
    order by
      "labels"."id"
  ),
  "workspace_id",
  "merged_into_seed_id"
from
  "seeds"
where
  (
    (
      "seeds"."workspace_id" = $1
      and "seeds"."id" = $2
    )
    and (
      "seeds"."deleted_at" is null
      or "seeds"."merged_into_seed_id" is not null
    )
  )
for no key update;

-- seeds_lock_deletable
select
  "title",
  "created_by_user_id",
  "grant_id",
  "deleted_at",
  "merged_into_seed_id"
from
  "seeds"
where
  (
    "seeds"."workspace_id" = $1
    and "seeds"."id" = $2
  )
for no key update;

-- seeds_lock_merged_pair
select
  "id",
  "title",
  "lead_user_id",
  "deleted_at",
  "merged_into_seed_id",
  "merged_at"
from
  "seeds"
where
  (
    "seeds"."id" in (
      $1::uuid,
      (
        select
          source.merged_into_seed_id
        from
          "seeds" as source
        where
          source.id = $2::uuid
      )
    )
    and "seeds"."workspace_id" = (
      select
        $3::uuid
    )
  )
order by
  "seeds"."id"
for no key update;

-- seeds_lock_of_attachment
select
  "id"
from
  "seeds"
where
  (
    "seeds"."workspace_id" = $1
    and "seeds"."id" = $2
  )
for no key update;

-- seeds_lock_pair
select
  "id",
  "title",
  "lead_user_id",
  "deleted_at",
  "merged_into_seed_id",
  "merged_at"
from
  "seeds"
where
  (
    "seeds"."id" in ($1::uuid, $2::uuid)
    and "seeds"."workspace_id" = (
      select
        $3::uuid
    )
  )
order by
  "seeds"."id"
for no key update;

-- seeds_lock_shared
select
  "title",
  "summary",
  "problem",
  "audience",
  "hypothesis",
  "success_criteria",
  "criteria",
  "status",
  "lead_user_id",
  "question",
  "decide_by",
  (
    select
      "teams"."id"
    from
      "teams"
    where
      "teams"."id" = "seeds"."team_id"
  ),
  array(
    select
      "labels"."id"
    from
      "labels"
    where
      "labels"."id" = any ("seeds"."label_ids")
    order by
      "labels"."id"
  ),
  "workspace_id",
  "merged_into_seed_id"
from
  "seeds"
where
  (
    (
      "seeds"."workspace_id" = $1
      and "seeds"."id" = $2
    )
    and (
      "seeds"."deleted_at" is null
      or "seeds"."merged_into_seed_id" is not null
    )
  )
for share;

-- seeds_lock_to_remind
select
  "seeds"."id"
from
  "seeds"
  inner join "workspaces" on (
    "workspaces"."id" = "seeds"."workspace_id"
    and "workspaces"."deleted_at" is null
  )
where
  "seeds"."decide_by" between (
    select
      $1::date
  ) and (
    select
      $2::date
  )
  and "seeds"."decide_by" is distinct from "seeds"."reminded_for"
  and "seeds"."deleted_at" is null
  and "seeds"."status" not in ('validated', 'dropped')
order by
  "seeds"."decide_by",
  "seeds"."id"
limit
  (
    select
      $3::int
  )
for no key update of
  "seeds" skip locked;

-- seeds_mark_reminded
update "seeds"
set
  "reminded_for" = "seeds"."decide_by"
where
  "seeds"."id" = any (
    (
      select
        $1::uuid[]
    )::uuid[]
  );

-- seeds_select_active_of_status
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "seeds"."id" as "id",
      "seeds"."workspace_id" as "workspaceId",
      $1::text || "seeds"."id" as "url",
      "seeds"."title" as "title",
      "seeds"."summary" as "summary",
      "seeds"."problem" as "problem",
      "seeds"."audience" as "audience",
      "seeds"."hypothesis" as "hypothesis",
      "seeds"."success_criteria" as "successCriteria",
      "seeds"."criteria" as "criteria",
      "seeds"."status" as "status",
      "seeds"."lead_user_id" as "leadUserId",
      "seeds"."question" as "question",
      "seeds"."decide_by" as "decideBy",
      "seeds"."status_reason" as "statusReason",
      case
        when "seeds"."status" in ($2, $3) then to_char("seeds"."status_changed_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      end as "decidedAt",
      case
        when "seeds"."status" in ($4, $5) then "seeds"."status_changed_by_user_id"
      end as "decidedByUserId",
      case
        when "seeds"."status" in ($6, $7) then "seeds"."status_changed_by_name"
      end as "decidedByName",
      "seeds"."created_by_user_id" as "createdByUserId",
      "creators"."name" as "createdByName",
      "seeds"."agent_name" as "agentName",
      "leads"."name" as "leadName",
      "teams"."id" as "teamId",
      "teams"."name" as "teamName",
      case
        when "seeds"."label_ids" = '{}' then '[]'::json
        else coalesce(
          (
            select
              json_agg(label)
            from
              (
                select
                  "labels"."id",
                  "labels"."name"
                from
                  "labels"
                where
                  "labels"."id" = any ("seeds"."label_ids")
                order by
                  "labels"."id"
              ) as label
          ),
          '[]'
        )
      end as "labels",
      "seeds"."participant_count" as "participantCount",
      exists (
        select
        from
          "seed_participants"
        where
          (
            "seed_participants"."seed_id" = "seeds"."id"
            and "seed_participants"."user_id" = $8
          )
      ) as "joined",
      exists (
        select
        from
          "seed_followers"
        where
          (
            "seed_followers"."seed_id" = "seeds"."id"
            and "seed_followers"."user_id" = $9
          )
      ) as "following",
      json_build_object(
        'supports',
        "seeds"."supports_count",
        'contradicts',
        "seeds"."contradicts_count",
        'neutral',
        "seeds"."neutral_count"
      ) as "evidenceCounts",
      "seeds"."comment_count" as "commentCount",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            (
              "attachments"."seed_id" = "seeds"."id"
              and "attachments"."evidence_id" is null
              and "attachments"."comment_id" is null
            )
        ),
        '[]'
      ) as "attachments",
      to_char("seeds"."last_evidence_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastEvidenceAt",
      to_char("seeds"."last_comment_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastCommentAt",
      to_char("seeds"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt",
      to_char("seeds"."activity_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "activityAt"
    from
      (
        select
          "id",
          sum("row_size") over (
            order by
              "page"."activity_at" desc,
              "page"."id" desc rows unbounded preceding
          ) - ("row_size") as "bytes_before"
        from
          (
            select
              "id",
              "activity_at",
              coalesce(octet_length("seeds"."title"), 0) + coalesce(octet_length("seeds"."summary"), 0) + coalesce(octet_length("seeds"."problem"), 0) + coalesce(octet_length("seeds"."audience"), 0) + coalesce(octet_length("seeds"."hypothesis"), 0) + coalesce(octet_length("seeds"."question"), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) as "row_size"
            from
              "seeds"
            where
              (
                (
                  "seeds"."workspace_id" = (
                    select
                      $10::uuid
                  )
                  and "seeds"."deleted_at" is null
                  and "seeds"."status" = (
                    select
                      $11::text
                  )
                )
                and ("seeds"."activity_at", "seeds"."id") < (
                  (
                    select
                      $12::timestamptz
                  ),
                  (
                    select
                      $13::uuid
                  )
                )
              )
            order by
              "seeds"."activity_at" desc,
              "seeds"."id" desc
            limit
              (
                select
                  $14::int
              )
          ) "page"
      ) "page_bytes"
      inner join "seeds" on "seeds"."id" = "page_bytes"."id"
      left join "users" "creators" on "creators"."id" = "seeds"."created_by_user_id"
      left join "users" "leads" on "leads"."id" = "seeds"."lead_user_id"
      left join "teams" on "teams"."id" = "seeds"."team_id"
    where
      "bytes_before" < $15
    order by
      "seeds"."activity_at" desc,
      "seeds"."id" desc
  ) "rows";

-- seeds_select_active_of_workspace
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "seeds"."id" as "id",
      "seeds"."workspace_id" as "workspaceId",
      $1::text || "seeds"."id" as "url",
      "seeds"."title" as "title",
      "seeds"."summary" as "summary",
      "seeds"."problem" as "problem",
      "seeds"."audience" as "audience",
      "seeds"."hypothesis" as "hypothesis",
      "seeds"."success_criteria" as "successCriteria",
      "seeds"."criteria" as "criteria",
      "seeds"."status" as "status",
      "seeds"."lead_user_id" as "leadUserId",
      "seeds"."question" as "question",
      "seeds"."decide_by" as "decideBy",
      "seeds"."status_reason" as "statusReason",
      case
        when "seeds"."status" in ($2, $3) then to_char("seeds"."status_changed_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      end as "decidedAt",
      case
        when "seeds"."status" in ($4, $5) then "seeds"."status_changed_by_user_id"
      end as "decidedByUserId",
      case
        when "seeds"."status" in ($6, $7) then "seeds"."status_changed_by_name"
      end as "decidedByName",
      "seeds"."created_by_user_id" as "createdByUserId",
      "creators"."name" as "createdByName",
      "seeds"."agent_name" as "agentName",
      "leads"."name" as "leadName",
      "teams"."id" as "teamId",
      "teams"."name" as "teamName",
      case
        when "seeds"."label_ids" = '{}' then '[]'::json
        else coalesce(
          (
            select
              json_agg(label)
            from
              (
                select
                  "labels"."id",
                  "labels"."name"
                from
                  "labels"
                where
                  "labels"."id" = any ("seeds"."label_ids")
                order by
                  "labels"."id"
              ) as label
          ),
          '[]'
        )
      end as "labels",
      "seeds"."participant_count" as "participantCount",
      exists (
        select
        from
          "seed_participants"
        where
          (
            "seed_participants"."seed_id" = "seeds"."id"
            and "seed_participants"."user_id" = $8
          )
      ) as "joined",
      exists (
        select
        from
          "seed_followers"
        where
          (
            "seed_followers"."seed_id" = "seeds"."id"
            and "seed_followers"."user_id" = $9
          )
      ) as "following",
      json_build_object(
        'supports',
        "seeds"."supports_count",
        'contradicts',
        "seeds"."contradicts_count",
        'neutral',
        "seeds"."neutral_count"
      ) as "evidenceCounts",
      "seeds"."comment_count" as "commentCount",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            (
              "attachments"."seed_id" = "seeds"."id"
              and "attachments"."evidence_id" is null
              and "attachments"."comment_id" is null
            )
        ),
        '[]'
      ) as "attachments",
      to_char("seeds"."last_evidence_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastEvidenceAt",
      to_char("seeds"."last_comment_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastCommentAt",
      to_char("seeds"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt",
      to_char("seeds"."activity_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "activityAt"
    from
      (
        select
          "id",
          sum("row_size") over (
            order by
              "page"."activity_at" desc,
              "page"."id" desc rows unbounded preceding
          ) - ("row_size") as "bytes_before"
        from
          (
            select
              "id",
              "activity_at",
              coalesce(octet_length("seeds"."title"), 0) + coalesce(octet_length("seeds"."summary"), 0) + coalesce(octet_length("seeds"."problem"), 0) + coalesce(octet_length("seeds"."audience"), 0) + coalesce(octet_length("seeds"."hypothesis"), 0) + coalesce(octet_length("seeds"."question"), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) as "row_size"
            from
              "seeds"
            where
              (
                (
                  "seeds"."workspace_id" = (
                    select
                      $10::uuid
                  )
                  and "seeds"."deleted_at" is null
                )
                and ("seeds"."activity_at", "seeds"."id") < (
                  (
                    select
                      $11::timestamptz
                  ),
                  (
                    select
                      $12::uuid
                  )
                )
              )
            order by
              "seeds"."activity_at" desc,
              "seeds"."id" desc
            limit
              (
                select
                  $13::int
              )
          ) "page"
      ) "page_bytes"
      inner join "seeds" on "seeds"."id" = "page_bytes"."id"
      left join "users" "creators" on "creators"."id" = "seeds"."created_by_user_id"
      left join "users" "leads" on "leads"."id" = "seeds"."lead_user_id"
      left join "teams" on "teams"."id" = "seeds"."team_id"
    where
      "bytes_before" < $14
    order by
      "seeds"."activity_at" desc,
      "seeds"."id" desc
  ) "rows";

-- seeds_select_changed_of_status
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "seeds"."id" as "id",
      "seeds"."workspace_id" as "workspaceId",
      $1::text || "seeds"."id" as "url",
      "seeds"."title" as "title",
      "seeds"."summary" as "summary",
      "seeds"."problem" as "problem",
      "seeds"."audience" as "audience",
      "seeds"."hypothesis" as "hypothesis",
      "seeds"."success_criteria" as "successCriteria",
      "seeds"."criteria" as "criteria",
      "seeds"."status" as "status",
      "seeds"."lead_user_id" as "leadUserId",
      "seeds"."question" as "question",
      "seeds"."decide_by" as "decideBy",
      "seeds"."status_reason" as "statusReason",
      case
        when "seeds"."status" in ($2, $3) then to_char("seeds"."status_changed_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      end as "decidedAt",
      case
        when "seeds"."status" in ($4, $5) then "seeds"."status_changed_by_user_id"
      end as "decidedByUserId",
      case
        when "seeds"."status" in ($6, $7) then "seeds"."status_changed_by_name"
      end as "decidedByName",
      "seeds"."created_by_user_id" as "createdByUserId",
      "creators"."name" as "createdByName",
      "seeds"."agent_name" as "agentName",
      "leads"."name" as "leadName",
      "teams"."id" as "teamId",
      "teams"."name" as "teamName",
      case
        when "seeds"."label_ids" = '{}' then '[]'::json
        else coalesce(
          (
            select
              json_agg(label)
            from
              (
                select
                  "labels"."id",
                  "labels"."name"
                from
                  "labels"
                where
                  "labels"."id" = any ("seeds"."label_ids")
                order by
                  "labels"."id"
              ) as label
          ),
          '[]'
        )
      end as "labels",
      "seeds"."participant_count" as "participantCount",
      exists (
        select
        from
          "seed_participants"
        where
          (
            "seed_participants"."seed_id" = "seeds"."id"
            and "seed_participants"."user_id" = $8
          )
      ) as "joined",
      exists (
        select
        from
          "seed_followers"
        where
          (
            "seed_followers"."seed_id" = "seeds"."id"
            and "seed_followers"."user_id" = $9
          )
      ) as "following",
      json_build_object(
        'supports',
        "seeds"."supports_count",
        'contradicts',
        "seeds"."contradicts_count",
        'neutral',
        "seeds"."neutral_count"
      ) as "evidenceCounts",
      "seeds"."comment_count" as "commentCount",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            (
              "attachments"."seed_id" = "seeds"."id"
              and "attachments"."evidence_id" is null
              and "attachments"."comment_id" is null
            )
        ),
        '[]'
      ) as "attachments",
      to_char("seeds"."last_evidence_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastEvidenceAt",
      to_char("seeds"."last_comment_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastCommentAt",
      to_char("seeds"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt",
      to_char("seeds"."activity_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "activityAt"
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
              coalesce(octet_length("seeds"."title"), 0) + coalesce(octet_length("seeds"."summary"), 0) + coalesce(octet_length("seeds"."problem"), 0) + coalesce(octet_length("seeds"."audience"), 0) + coalesce(octet_length("seeds"."hypothesis"), 0) + coalesce(octet_length("seeds"."question"), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) as "row_size"
            from
              "seeds"
            where
              (
                (
                  "seeds"."workspace_id" = (
                    select
                      $10::uuid
                  )
                  and "seeds"."deleted_at" is null
                  and "seeds"."status" = (
                    select
                      $11::text
                  )
                )
                and ("seeds"."updated_at", "seeds"."id") < (
                  (
                    select
                      $12::timestamptz
                  ),
                  (
                    select
                      $13::uuid
                  )
                )
              )
            order by
              "seeds"."updated_at" desc,
              "seeds"."id" desc
            limit
              (
                select
                  $14::int
              )
          ) "page"
      ) "page_bytes"
      inner join "seeds" on "seeds"."id" = "page_bytes"."id"
      left join "users" "creators" on "creators"."id" = "seeds"."created_by_user_id"
      left join "users" "leads" on "leads"."id" = "seeds"."lead_user_id"
      left join "teams" on "teams"."id" = "seeds"."team_id"
    where
      "bytes_before" < $15
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
      "seeds"."workspace_id" as "workspaceId",
      $1::text || "seeds"."id" as "url",
      "seeds"."title" as "title",
      "seeds"."summary" as "summary",
      "seeds"."problem" as "problem",
      "seeds"."audience" as "audience",
      "seeds"."hypothesis" as "hypothesis",
      "seeds"."success_criteria" as "successCriteria",
      "seeds"."criteria" as "criteria",
      "seeds"."status" as "status",
      "seeds"."lead_user_id" as "leadUserId",
      "seeds"."question" as "question",
      "seeds"."decide_by" as "decideBy",
      "seeds"."status_reason" as "statusReason",
      case
        when "seeds"."status" in ($2, $3) then to_char("seeds"."status_changed_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      end as "decidedAt",
      case
        when "seeds"."status" in ($4, $5) then "seeds"."status_changed_by_user_id"
      end as "decidedByUserId",
      case
        when "seeds"."status" in ($6, $7) then "seeds"."status_changed_by_name"
      end as "decidedByName",
      "seeds"."created_by_user_id" as "createdByUserId",
      "creators"."name" as "createdByName",
      "seeds"."agent_name" as "agentName",
      "leads"."name" as "leadName",
      "teams"."id" as "teamId",
      "teams"."name" as "teamName",
      case
        when "seeds"."label_ids" = '{}' then '[]'::json
        else coalesce(
          (
            select
              json_agg(label)
            from
              (
                select
                  "labels"."id",
                  "labels"."name"
                from
                  "labels"
                where
                  "labels"."id" = any ("seeds"."label_ids")
                order by
                  "labels"."id"
              ) as label
          ),
          '[]'
        )
      end as "labels",
      "seeds"."participant_count" as "participantCount",
      exists (
        select
        from
          "seed_participants"
        where
          (
            "seed_participants"."seed_id" = "seeds"."id"
            and "seed_participants"."user_id" = $8
          )
      ) as "joined",
      exists (
        select
        from
          "seed_followers"
        where
          (
            "seed_followers"."seed_id" = "seeds"."id"
            and "seed_followers"."user_id" = $9
          )
      ) as "following",
      json_build_object(
        'supports',
        "seeds"."supports_count",
        'contradicts',
        "seeds"."contradicts_count",
        'neutral',
        "seeds"."neutral_count"
      ) as "evidenceCounts",
      "seeds"."comment_count" as "commentCount",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            (
              "attachments"."seed_id" = "seeds"."id"
              and "attachments"."evidence_id" is null
              and "attachments"."comment_id" is null
            )
        ),
        '[]'
      ) as "attachments",
      to_char("seeds"."last_evidence_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastEvidenceAt",
      to_char("seeds"."last_comment_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastCommentAt",
      to_char("seeds"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt",
      to_char("seeds"."activity_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "activityAt"
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
              coalesce(octet_length("seeds"."title"), 0) + coalesce(octet_length("seeds"."summary"), 0) + coalesce(octet_length("seeds"."problem"), 0) + coalesce(octet_length("seeds"."audience"), 0) + coalesce(octet_length("seeds"."hypothesis"), 0) + coalesce(octet_length("seeds"."question"), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) as "row_size"
            from
              "seeds"
            where
              (
                (
                  "seeds"."workspace_id" = (
                    select
                      $10::uuid
                  )
                  and "seeds"."deleted_at" is null
                )
                and ("seeds"."updated_at", "seeds"."id") < (
                  (
                    select
                      $11::timestamptz
                  ),
                  (
                    select
                      $12::uuid
                  )
                )
              )
            order by
              "seeds"."updated_at" desc,
              "seeds"."id" desc
            limit
              (
                select
                  $13::int
              )
          ) "page"
      ) "page_bytes"
      inner join "seeds" on "seeds"."id" = "page_bytes"."id"
      left join "users" "creators" on "creators"."id" = "seeds"."created_by_user_id"
      left join "users" "leads" on "leads"."id" = "seeds"."lead_user_id"
      left join "teams" on "teams"."id" = "seeds"."team_id"
    where
      "bytes_before" < $14
    order by
      "seeds"."updated_at" desc,
      "seeds"."id" desc
  ) "rows";

-- seeds_select_faces
select
  "seeds"."id",
  "faces"."id",
  "faces"."name",
  "image"
from
  "seeds"
  cross join lateral (
    select
      "users"."id",
      "users"."name",
      $1::text || "users"."image_key" as "image"
    from
      "seed_participants"
      inner join "users" on "users"."id" = "seed_participants"."user_id"
    where
      "seed_participants"."seed_id" = "seeds"."id"
    order by
      "seed_participants"."user_id" is not distinct from "seeds"."lead_user_id" desc,
      "seed_participants"."joined_at"
    limit
      3
  ) "faces"
where
  (
    "seeds"."id" = any (
      (
        select
          $2::uuid[]
      )::uuid[]
    )
    and "seeds"."workspace_id" = (
      select
        $3::uuid
    )
  );

-- seeds_select_kit
with
  "found" as (
    select
      "id",
      to_char("sorted_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || ' ' || "id" as "seed_position",
      row_number() over (
        order by
          "sorted_at" desc,
          "recent"."id" desc
      ) as "seed_rank",
      sum("seed_size") over (
        order by
          "sorted_at" desc,
          "recent"."id" desc rows unbounded preceding
      ) - ("seed_size") as "seeds_before"
    from
      (
        select
          "id",
          "updated_at" as "sorted_at",
          coalesce(octet_length("seeds"."title"), 0) + coalesce(octet_length("seeds"."summary"), 0) + coalesce(octet_length("seeds"."problem"), 0) + coalesce(octet_length("seeds"."audience"), 0) + coalesce(octet_length("seeds"."hypothesis"), 0) + coalesce(octet_length("seeds"."question"), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) as "seed_size"
        from
          "seeds"
        where
          (
            (
              "seeds"."workspace_id" = (
                select
                  $1::uuid
              )
              and "seeds"."deleted_at" is null
              and "seeds"."updated_at" >= (
                select
                  $2::timestamptz
              )
              and (
                (
                  select
                    $3::text
                ) is null
                or "seeds"."status" = (
                  select
                    $4::text
                )
              )
            )
            and ("seeds"."updated_at", "seeds"."id") < (
              (
                select
                  $5::timestamptz
              ),
              (
                select
                  $6::uuid
              )
            )
          )
        order by
          "seeds"."updated_at" desc,
          "seeds"."id" desc
        limit
          (
            select
              $7::int
          )
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
      "seeds"."criteria",
      "seeds"."question",
      "seeds"."decide_by",
      "seeds"."reminded_for",
      "seeds"."status",
      "seeds"."status_changed_at",
      "seeds"."status_reason",
      "seeds"."status_changed_by_user_id",
      "seeds"."status_changed_by_name",
      "seeds"."created_by_user_id",
      "seeds"."agent_name",
      "seeds"."grant_id",
      "seeds"."lead_user_id",
      "seeds"."team_id",
      "seeds"."label_ids",
      "seeds"."created_at",
      "seeds"."updated_at",
      "seeds"."deleted_at",
      "seeds"."merged_into_seed_id",
      "seeds"."merged_at",
      "seeds"."merged_by_user_id",
      "seeds"."supports_count",
      "seeds"."contradicts_count",
      "seeds"."neutral_count",
      "seeds"."comment_count",
      "seeds"."participant_count",
      "seeds"."last_evidence_at",
      "seeds"."last_comment_at",
      "seeds"."activity_at",
      "seed_rank"
    from
      "found"
      inner join "seeds" on "seeds"."id" = "found"."id"
    where
      (
        "seed_rank" <= $8
        and "seeds_before" < $9
      )
  ),
  "shown" as (
    select
      "seed_id",
      count(*) filter (
        where
          (
            "round" <= $10::int
            and "evidence_before" < $11
          )
      ) as "shown_count",
      not bool_and(
        (
          "round" <= $12::int
          and "evidence_before" < $13
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
                "pieces"."criterion_ids" as "criterionIds",
                "pieces"."author_user_id" as "authorUserId",
                "pieces"."author_name" as "authorName",
                "pieces"."agent_name" as "agentName",
                to_char("pieces"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
                to_char("pieces"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt"
            ) as item
        )
        order by
          "round"
      ) filter (
        where
          (
            "round" <= $14::int
            and "evidence_before" < $15
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
          "newest"."criterion_ids",
          "newest"."author_user_id",
          "newest"."author_name",
          "newest"."agent_name",
          "newest"."created_at",
          "newest"."edited_at",
          "round",
          sum("evidence_size") over (
            order by
              "round",
              "seed_rank" rows unbounded preceding
          ) - ("evidence_size") as "evidence_before"
        from
          "latest"
          cross join lateral (
            select
              "id",
              "workspace_id",
              "seed_id",
              "kind",
              "verdict",
              "summary",
              "source_url",
              "criterion_ids",
              "author_user_id",
              "author_name",
              "agent_name",
              "created_at",
              "edited_at",
              "withdrawn_at",
              "withdrawn_by_user_id",
              "withdrawn_by_name",
              "withdrawn_reason",
              "seen_by_count",
              row_number() over (
                order by
                  "created_at" desc,
                  "id" desc
              ) as "round",
              coalesce(octet_length("evidence"."summary"), 0) + coalesce(octet_length("evidence"."source_url"), 0) as "evidence_size"
            from
              "evidence"
            where
              (
                "evidence"."seed_id" = "latest"."id"
                and "evidence"."withdrawn_at" is null
              )
            order by
              "evidence"."created_at" desc,
              "evidence"."id" desc
            limit
              (
                select
                  $16::int
              )
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
      coalesce(
        string_agg(
          "seed_position",
          ','
          order by
            "seed_rank"
        ),
        ''
      )
    from
      "found"
  ),
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
                  "latest"."criteria" as "criteria",
                  "latest"."status" as "status",
                  "latest"."question" as "question",
                  "latest"."decide_by" as "decideBy",
                  "latest"."agent_name" as "agentName",
                  "latest"."lead_user_id" as "leadUserId",
                  "latest"."participant_count" as "participantCount",
                  exists (
                    select
                    from
                      "seed_participants"
                    where
                      (
                        "seed_participants"."seed_id" = "latest"."id"
                        and "seed_participants"."user_id" = $17
                      )
                  ) as "joined",
                  to_char("latest"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
                  to_char("latest"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt",
                  $18::text || "latest"."id" as "url",
                  json_build_object(
                    'supports',
                    "latest"."supports_count",
                    'contradicts',
                    "latest"."contradicts_count",
                    'neutral',
                    "latest"."neutral_count"
                  ) as "evidenceCounts",
                  coalesce("shown_evidence", '[]') as "evidence"
              ) as item
          ) as "item"
        from
          "latest"
          left join "shown" on "shown"."seed_id" = "latest"."id"
        order by
          "seed_rank"
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
                  json_build_object(
                    'supports',
                    "seeds"."supports_count",
                    'contradicts',
                    "seeds"."contradicts_count",
                    'neutral',
                    "seeds"."neutral_count"
                  ) as "evidenceCounts",
                  to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt",
                  to_char("seeds"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
                  "leads"."name" as "leadName",
                  "seeds"."participant_count" as "participantCount",
                  "seeds"."comment_count" as "commentCount",
                  to_char("seeds"."activity_at" at time zone 'UTC', 'YYYY-MM-DD') as "activeOn"
              ) as item
          ) as "item"
        from
          "found"
          inner join "seeds" on "seeds"."id" = "found"."id"
          left join "users" "leads" on "leads"."id" = "seeds"."lead_user_id"
        where
          "seed_rank" <= $19
        order by
          "seed_rank"
      ) "outline_rows"
  ) "outline"
  cross join (
    select
      count(*)::int as "all_seeds",
      coalesce(sum("seeds"."supports_count" + "seeds"."contradicts_count" + "seeds"."neutral_count"), 0)::int as "all_evidence"
    from
      "seeds"
    where
      (
        "seeds"."workspace_id" = (
          select
            $20::uuid
        )
        and "seeds"."deleted_at" is null
        and "seeds"."updated_at" >= (
          select
            $21::timestamptz
        )
        and (
          (
            select
              $22::text
          ) is null
          or "seeds"."status" = (
            select
              $23::text
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
          "seeds"."criteria" as "criteria",
          "seeds"."status" as "status",
          "seeds"."question" as "question",
          "seeds"."decide_by" as "decideBy",
          "seeds"."agent_name" as "agentName",
          "seeds"."lead_user_id" as "leadUserId",
          "seeds"."participant_count" as "participantCount",
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
          json_build_object(
            'supports',
            "seeds"."supports_count",
            'contradicts',
            "seeds"."contradicts_count",
            'neutral',
            "seeds"."neutral_count"
          ) as "evidenceCounts",
          coalesce("shown_evidence", '[]') as "evidence"
      ) as item
  )::text,
  "shown_count"::int,
  coalesce("is_cut", false),
  to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || ' ' || "seeds"."id",
  "seeds"."supports_count" + "seeds"."contradicts_count" + "seeds"."neutral_count"
from
  "seeds"
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
                "newest"."criterion_ids" as "criterionIds",
                "newest"."author_user_id" as "authorUserId",
                "newest"."author_name" as "authorName",
                "newest"."agent_name" as "agentName",
                to_char("newest"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
                to_char("newest"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt"
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
          "workspace_id",
          "seed_id",
          "kind",
          "verdict",
          "summary",
          "source_url",
          "criterion_ids",
          "author_user_id",
          "author_name",
          "agent_name",
          "created_at",
          "edited_at",
          "withdrawn_at",
          "withdrawn_by_user_id",
          "withdrawn_by_name",
          "withdrawn_reason",
          "seen_by_count",
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
            and "evidence"."withdrawn_at" is null
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
    and "seeds"."deleted_at" is null
  );

-- seeds_select_kit_of_words
with
  "found" as (
    select
      "id",
      to_char("sorted_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || ' ' || "id" as "seed_position",
      row_number() over (
        order by
          "sorted_at" desc,
          "recent"."id" desc
      ) as "seed_rank",
      sum("seed_size") over (
        order by
          "sorted_at" desc,
          "recent"."id" desc rows unbounded preceding
      ) - ("seed_size") as "seeds_before"
    from
      (
        select
          "id",
          "updated_at" as "sorted_at",
          coalesce(octet_length("seeds"."title"), 0) + coalesce(octet_length("seeds"."summary"), 0) + coalesce(octet_length("seeds"."problem"), 0) + coalesce(octet_length("seeds"."audience"), 0) + coalesce(octet_length("seeds"."hypothesis"), 0) + coalesce(octet_length("seeds"."question"), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) as "seed_size"
        from
          "seeds"
        where
          (
            (
              "seeds"."workspace_id" = (
                select
                  $1::uuid
              )
              and "seeds"."deleted_at" is null
              and "seeds"."updated_at" >= (
                select
                  $2::timestamptz
              )
              and (
                (
                  select
                    $3::text
                ) is null
                or "seeds"."status" = (
                  select
                    $4::text
                )
              )
              and "seeds"."id" in (
                select
                  "search_entries"."id"
                from
                  "search_entries"
                where
                  "search_entries"."words" @@ (
                    select
                      search_query (
                        (
                          select
                            $5::uuid
                        ),
                        'seed',
                        false,
                        true,
                        (
                          select
                            $6::text
                        )
                      )
                  )
                  and "search_entries"."workspace_id"::text = (
                    select
                      $7::uuid
                  )::text
              )
            )
            and ("seeds"."updated_at", "seeds"."id") < (
              (
                select
                  $8::timestamptz
              ),
              (
                select
                  $9::uuid
              )
            )
          )
        order by
          "seeds"."updated_at" desc,
          "seeds"."id" desc
        limit
          (
            select
              $10::int
          )
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
      "seeds"."criteria",
      "seeds"."question",
      "seeds"."decide_by",
      "seeds"."reminded_for",
      "seeds"."status",
      "seeds"."status_changed_at",
      "seeds"."status_reason",
      "seeds"."status_changed_by_user_id",
      "seeds"."status_changed_by_name",
      "seeds"."created_by_user_id",
      "seeds"."agent_name",
      "seeds"."grant_id",
      "seeds"."lead_user_id",
      "seeds"."team_id",
      "seeds"."label_ids",
      "seeds"."created_at",
      "seeds"."updated_at",
      "seeds"."deleted_at",
      "seeds"."merged_into_seed_id",
      "seeds"."merged_at",
      "seeds"."merged_by_user_id",
      "seeds"."supports_count",
      "seeds"."contradicts_count",
      "seeds"."neutral_count",
      "seeds"."comment_count",
      "seeds"."participant_count",
      "seeds"."last_evidence_at",
      "seeds"."last_comment_at",
      "seeds"."activity_at",
      "seed_rank"
    from
      "found"
      inner join "seeds" on "seeds"."id" = "found"."id"
    where
      (
        "seed_rank" <= $11
        and "seeds_before" < $12
      )
  ),
  "shown" as (
    select
      "seed_id",
      count(*) filter (
        where
          (
            "round" <= $13::int
            and "evidence_before" < $14
          )
      ) as "shown_count",
      not bool_and(
        (
          "round" <= $15::int
          and "evidence_before" < $16
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
                "pieces"."criterion_ids" as "criterionIds",
                "pieces"."author_user_id" as "authorUserId",
                "pieces"."author_name" as "authorName",
                "pieces"."agent_name" as "agentName",
                to_char("pieces"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
                to_char("pieces"."edited_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "editedAt"
            ) as item
        )
        order by
          "round"
      ) filter (
        where
          (
            "round" <= $17::int
            and "evidence_before" < $18
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
          "newest"."criterion_ids",
          "newest"."author_user_id",
          "newest"."author_name",
          "newest"."agent_name",
          "newest"."created_at",
          "newest"."edited_at",
          "round",
          sum("evidence_size") over (
            order by
              "round",
              "seed_rank" rows unbounded preceding
          ) - ("evidence_size") as "evidence_before"
        from
          "latest"
          cross join lateral (
            select
              "id",
              "workspace_id",
              "seed_id",
              "kind",
              "verdict",
              "summary",
              "source_url",
              "criterion_ids",
              "author_user_id",
              "author_name",
              "agent_name",
              "created_at",
              "edited_at",
              "withdrawn_at",
              "withdrawn_by_user_id",
              "withdrawn_by_name",
              "withdrawn_reason",
              "seen_by_count",
              row_number() over (
                order by
                  "created_at" desc,
                  "id" desc
              ) as "round",
              coalesce(octet_length("evidence"."summary"), 0) + coalesce(octet_length("evidence"."source_url"), 0) as "evidence_size"
            from
              "evidence"
            where
              (
                "evidence"."seed_id" = "latest"."id"
                and "evidence"."withdrawn_at" is null
              )
            order by
              "evidence"."created_at" desc,
              "evidence"."id" desc
            limit
              (
                select
                  $19::int
              )
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
      coalesce(
        string_agg(
          "seed_position",
          ','
          order by
            "seed_rank"
        ),
        ''
      )
    from
      "found"
  ),
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
                  "latest"."criteria" as "criteria",
                  "latest"."status" as "status",
                  "latest"."question" as "question",
                  "latest"."decide_by" as "decideBy",
                  "latest"."agent_name" as "agentName",
                  "latest"."lead_user_id" as "leadUserId",
                  "latest"."participant_count" as "participantCount",
                  exists (
                    select
                    from
                      "seed_participants"
                    where
                      (
                        "seed_participants"."seed_id" = "latest"."id"
                        and "seed_participants"."user_id" = $20
                      )
                  ) as "joined",
                  to_char("latest"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
                  to_char("latest"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt",
                  $21::text || "latest"."id" as "url",
                  json_build_object(
                    'supports',
                    "latest"."supports_count",
                    'contradicts',
                    "latest"."contradicts_count",
                    'neutral',
                    "latest"."neutral_count"
                  ) as "evidenceCounts",
                  coalesce("shown_evidence", '[]') as "evidence"
              ) as item
          ) as "item"
        from
          "latest"
          left join "shown" on "shown"."seed_id" = "latest"."id"
        order by
          "seed_rank"
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
                  json_build_object(
                    'supports',
                    "seeds"."supports_count",
                    'contradicts',
                    "seeds"."contradicts_count",
                    'neutral',
                    "seeds"."neutral_count"
                  ) as "evidenceCounts",
                  to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt",
                  to_char("seeds"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
                  "leads"."name" as "leadName",
                  "seeds"."participant_count" as "participantCount",
                  "seeds"."comment_count" as "commentCount",
                  to_char("seeds"."activity_at" at time zone 'UTC', 'YYYY-MM-DD') as "activeOn"
              ) as item
          ) as "item"
        from
          "found"
          inner join "seeds" on "seeds"."id" = "found"."id"
          left join "users" "leads" on "leads"."id" = "seeds"."lead_user_id"
        where
          "seed_rank" <= $22
        order by
          "seed_rank"
      ) "outline_rows"
  ) "outline"
  cross join (
    select
      count(*)::int as "all_seeds",
      coalesce(sum("seeds"."supports_count" + "seeds"."contradicts_count" + "seeds"."neutral_count"), 0)::int as "all_evidence"
    from
      "seeds"
    where
      (
        "seeds"."workspace_id" = (
          select
            $23::uuid
        )
        and "seeds"."deleted_at" is null
        and "seeds"."updated_at" >= (
          select
            $24::timestamptz
        )
        and (
          (
            select
              $25::text
          ) is null
          or "seeds"."status" = (
            select
              $26::text
          )
        )
        and "seeds"."id" in (
          select
            "search_entries"."id"
          from
            "search_entries"
          where
            "search_entries"."words" @@ (
              select
                search_query (
                  (
                    select
                      $27::uuid
                  ),
                  'seed',
                  false,
                  true,
                  (
                    select
                      $28::text
                  )
                )
            )
            and "search_entries"."workspace_id"::text = (
              select
                $29::uuid
            )::text
        )
      )
  ) "totals";

-- seeds_select_merged_into
select
  "seeds"."id",
  "seeds"."title",
  "seeds"."lead_user_id",
  "seeds"."merged_at",
  "users"."name"
from
  "seeds"
  left join "users" on "users"."id" = "seeds"."merged_by_user_id"
where
  (
    "seeds"."workspace_id" = (
      select
        $1::uuid
    )
    and "seeds"."merged_into_seed_id" = $2
  )
order by
  "seeds"."merged_at" desc
limit
  20;

-- seeds_select_of_status
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "seeds"."id" as "id",
      "seeds"."workspace_id" as "workspaceId",
      $1::text || "seeds"."id" as "url",
      "seeds"."title" as "title",
      "seeds"."summary" as "summary",
      "seeds"."problem" as "problem",
      "seeds"."audience" as "audience",
      "seeds"."hypothesis" as "hypothesis",
      "seeds"."success_criteria" as "successCriteria",
      "seeds"."criteria" as "criteria",
      "seeds"."status" as "status",
      "seeds"."lead_user_id" as "leadUserId",
      "seeds"."question" as "question",
      "seeds"."decide_by" as "decideBy",
      "seeds"."status_reason" as "statusReason",
      case
        when "seeds"."status" in ($2, $3) then to_char("seeds"."status_changed_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      end as "decidedAt",
      case
        when "seeds"."status" in ($4, $5) then "seeds"."status_changed_by_user_id"
      end as "decidedByUserId",
      case
        when "seeds"."status" in ($6, $7) then "seeds"."status_changed_by_name"
      end as "decidedByName",
      "seeds"."created_by_user_id" as "createdByUserId",
      "creators"."name" as "createdByName",
      "seeds"."agent_name" as "agentName",
      "leads"."name" as "leadName",
      "teams"."id" as "teamId",
      "teams"."name" as "teamName",
      case
        when "seeds"."label_ids" = '{}' then '[]'::json
        else coalesce(
          (
            select
              json_agg(label)
            from
              (
                select
                  "labels"."id",
                  "labels"."name"
                from
                  "labels"
                where
                  "labels"."id" = any ("seeds"."label_ids")
                order by
                  "labels"."id"
              ) as label
          ),
          '[]'
        )
      end as "labels",
      "seeds"."participant_count" as "participantCount",
      exists (
        select
        from
          "seed_participants"
        where
          (
            "seed_participants"."seed_id" = "seeds"."id"
            and "seed_participants"."user_id" = $8
          )
      ) as "joined",
      exists (
        select
        from
          "seed_followers"
        where
          (
            "seed_followers"."seed_id" = "seeds"."id"
            and "seed_followers"."user_id" = $9
          )
      ) as "following",
      json_build_object(
        'supports',
        "seeds"."supports_count",
        'contradicts',
        "seeds"."contradicts_count",
        'neutral',
        "seeds"."neutral_count"
      ) as "evidenceCounts",
      "seeds"."comment_count" as "commentCount",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            (
              "attachments"."seed_id" = "seeds"."id"
              and "attachments"."evidence_id" is null
              and "attachments"."comment_id" is null
            )
        ),
        '[]'
      ) as "attachments",
      to_char("seeds"."last_evidence_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastEvidenceAt",
      to_char("seeds"."last_comment_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastCommentAt",
      to_char("seeds"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt",
      to_char("seeds"."activity_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "activityAt"
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
              coalesce(octet_length("seeds"."title"), 0) + coalesce(octet_length("seeds"."summary"), 0) + coalesce(octet_length("seeds"."problem"), 0) + coalesce(octet_length("seeds"."audience"), 0) + coalesce(octet_length("seeds"."hypothesis"), 0) + coalesce(octet_length("seeds"."question"), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) as "row_size"
            from
              "seeds"
            where
              (
                (
                  "seeds"."workspace_id" = (
                    select
                      $10::uuid
                  )
                  and "seeds"."deleted_at" is null
                  and "seeds"."status" = (
                    select
                      $11::text
                  )
                )
                and ("seeds"."created_at", "seeds"."id") < (
                  (
                    select
                      $12::timestamptz
                  ),
                  (
                    select
                      $13::uuid
                  )
                )
              )
            order by
              "seeds"."created_at" desc,
              "seeds"."id" desc
            limit
              (
                select
                  $14::int
              )
          ) "page"
      ) "page_bytes"
      inner join "seeds" on "seeds"."id" = "page_bytes"."id"
      left join "users" "creators" on "creators"."id" = "seeds"."created_by_user_id"
      left join "users" "leads" on "leads"."id" = "seeds"."lead_user_id"
      left join "teams" on "teams"."id" = "seeds"."team_id"
    where
      "bytes_before" < $15
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
      "seeds"."workspace_id" as "workspaceId",
      $1::text || "seeds"."id" as "url",
      "seeds"."title" as "title",
      "seeds"."summary" as "summary",
      "seeds"."problem" as "problem",
      "seeds"."audience" as "audience",
      "seeds"."hypothesis" as "hypothesis",
      "seeds"."success_criteria" as "successCriteria",
      "seeds"."criteria" as "criteria",
      "seeds"."status" as "status",
      "seeds"."lead_user_id" as "leadUserId",
      "seeds"."question" as "question",
      "seeds"."decide_by" as "decideBy",
      "seeds"."status_reason" as "statusReason",
      case
        when "seeds"."status" in ($2, $3) then to_char("seeds"."status_changed_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      end as "decidedAt",
      case
        when "seeds"."status" in ($4, $5) then "seeds"."status_changed_by_user_id"
      end as "decidedByUserId",
      case
        when "seeds"."status" in ($6, $7) then "seeds"."status_changed_by_name"
      end as "decidedByName",
      "seeds"."created_by_user_id" as "createdByUserId",
      "creators"."name" as "createdByName",
      "seeds"."agent_name" as "agentName",
      "leads"."name" as "leadName",
      "teams"."id" as "teamId",
      "teams"."name" as "teamName",
      case
        when "seeds"."label_ids" = '{}' then '[]'::json
        else coalesce(
          (
            select
              json_agg(label)
            from
              (
                select
                  "labels"."id",
                  "labels"."name"
                from
                  "labels"
                where
                  "labels"."id" = any ("seeds"."label_ids")
                order by
                  "labels"."id"
              ) as label
          ),
          '[]'
        )
      end as "labels",
      "seeds"."participant_count" as "participantCount",
      exists (
        select
        from
          "seed_participants"
        where
          (
            "seed_participants"."seed_id" = "seeds"."id"
            and "seed_participants"."user_id" = $8
          )
      ) as "joined",
      exists (
        select
        from
          "seed_followers"
        where
          (
            "seed_followers"."seed_id" = "seeds"."id"
            and "seed_followers"."user_id" = $9
          )
      ) as "following",
      json_build_object(
        'supports',
        "seeds"."supports_count",
        'contradicts',
        "seeds"."contradicts_count",
        'neutral',
        "seeds"."neutral_count"
      ) as "evidenceCounts",
      "seeds"."comment_count" as "commentCount",
      coalesce(
        (
          select
            json_agg(
              json_build_object(
                'id',
                "attachments"."id",
                'workspaceId',
                "attachments"."workspace_id",
                'name',
                "attachments"."name",
                'type',
                "attachments"."type",
                'bytes',
                "attachments"."bytes",
                'width',
                "attachments"."width",
                'height',
                "attachments"."height",
                'createdByUserId',
                "attachments"."created_by_user_id",
                'createdAt',
                to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
              )
              order by
                "attachments"."position",
                "attachments"."id"
            )
          from
            "attachments"
          where
            (
              "attachments"."seed_id" = "seeds"."id"
              and "attachments"."evidence_id" is null
              and "attachments"."comment_id" is null
            )
        ),
        '[]'
      ) as "attachments",
      to_char("seeds"."last_evidence_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastEvidenceAt",
      to_char("seeds"."last_comment_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "lastCommentAt",
      to_char("seeds"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("seeds"."updated_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt",
      to_char("seeds"."activity_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "activityAt"
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
              coalesce(octet_length("seeds"."title"), 0) + coalesce(octet_length("seeds"."summary"), 0) + coalesce(octet_length("seeds"."problem"), 0) + coalesce(octet_length("seeds"."audience"), 0) + coalesce(octet_length("seeds"."hypothesis"), 0) + coalesce(octet_length("seeds"."question"), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) + coalesce(octet_length(array_to_string("seeds"."success_criteria", ',')), 0) as "row_size"
            from
              "seeds"
            where
              (
                (
                  "seeds"."workspace_id" = (
                    select
                      $10::uuid
                  )
                  and "seeds"."deleted_at" is null
                )
                and ("seeds"."created_at", "seeds"."id") < (
                  (
                    select
                      $11::timestamptz
                  ),
                  (
                    select
                      $12::uuid
                  )
                )
              )
            order by
              "seeds"."created_at" desc,
              "seeds"."id" desc
            limit
              (
                select
                  $13::int
              )
          ) "page"
      ) "page_bytes"
      inner join "seeds" on "seeds"."id" = "page_bytes"."id"
      left join "users" "creators" on "creators"."id" = "seeds"."created_by_user_id"
      left join "users" "leads" on "leads"."id" = "seeds"."lead_user_id"
      left join "teams" on "teams"."id" = "seeds"."team_id"
    where
      "bytes_before" < $14
    order by
      "seeds"."created_at" desc,
      "seeds"."id" desc
  ) "rows";

-- seeds_select_of_workspace_by_id
select
  "seeds"."id",
  "seeds"."workspace_id",
  $1::text || "seeds"."id",
  "seeds"."title",
  "seeds"."summary",
  "seeds"."problem",
  "seeds"."audience",
  "seeds"."hypothesis",
  "seeds"."success_criteria",
  "seeds"."criteria",
  "seeds"."status",
  "seeds"."lead_user_id",
  "seeds"."question",
  "seeds"."decide_by",
  "seeds"."status_reason",
  case
    when "seeds"."status" in ($2, $3) then to_char("seeds"."status_changed_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  end,
  case
    when "seeds"."status" in ($4, $5) then "seeds"."status_changed_by_user_id"
  end,
  case
    when "seeds"."status" in ($6, $7) then "seeds"."status_changed_by_name"
  end,
  "seeds"."created_by_user_id",
  "creators"."name",
  "seeds"."agent_name",
  "leads"."name",
  "teams"."id",
  "teams"."name",
  case
    when "seeds"."label_ids" = '{}' then '[]'::json
    else coalesce(
      (
        select
          json_agg(label)
        from
          (
            select
              "labels"."id",
              "labels"."name"
            from
              "labels"
            where
              "labels"."id" = any ("seeds"."label_ids")
            order by
              "labels"."id"
          ) as label
      ),
      '[]'
    )
  end,
  "seeds"."participant_count",
  exists (
    select
    from
      "seed_participants"
    where
      (
        "seed_participants"."seed_id" = "seeds"."id"
        and "seed_participants"."user_id" = $8
      )
  ),
  exists (
    select
    from
      "seed_followers"
    where
      (
        "seed_followers"."seed_id" = "seeds"."id"
        and "seed_followers"."user_id" = $9
      )
  ),
  json_build_object(
    'supports',
    "seeds"."supports_count",
    'contradicts',
    "seeds"."contradicts_count",
    'neutral',
    "seeds"."neutral_count"
  ),
  "seeds"."comment_count",
  coalesce(
    (
      select
        json_agg(
          json_build_object(
            'id',
            "attachments"."id",
            'workspaceId',
            "attachments"."workspace_id",
            'name',
            "attachments"."name",
            'type',
            "attachments"."type",
            'bytes',
            "attachments"."bytes",
            'width',
            "attachments"."width",
            'height',
            "attachments"."height",
            'createdByUserId',
            "attachments"."created_by_user_id",
            'createdAt',
            to_char("attachments"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
          )
          order by
            "attachments"."position",
            "attachments"."id"
        )
      from
        "attachments"
      where
        (
          "attachments"."seed_id" = "seeds"."id"
          and "attachments"."evidence_id" is null
          and "attachments"."comment_id" is null
        )
    ),
    '[]'
  ),
  "seeds"."last_evidence_at",
  "seeds"."last_comment_at",
  "seeds"."created_at",
  "seeds"."updated_at",
  "seeds"."activity_at"
from
  "seeds"
  left join "users" "creators" on "creators"."id" = "seeds"."created_by_user_id"
  left join "users" "leads" on "leads"."id" = "seeds"."lead_user_id"
  left join "teams" on "teams"."id" = "seeds"."team_id"
where
  (
    (
      "seeds"."workspace_id" = $10
      and "seeds"."id" = $11
    )
    and "seeds"."deleted_at" is null
  );

-- seeds_select_similar
select
  "seeds"."id",
  "seeds"."title",
  "seeds"."status",
  $1::text || "seeds"."id"
from
  (
    with
      whole_title as materialized (
        -- In quotes. Made once: as a part of the condition, it would be for each row that the index gives.
        select
          search_query (
            (
              select
                $2::uuid
            ),
            'seed',
            true,
            false,
            '"' || replace(
              (
                select
                  $3::text
              ),
              '"',
              ' '
            ) || '"'
          ) as query
      ),
      whole_titles as materialized (
        select
          found.id
        from
          whole_title,
          lateral (
            select
              "search_entries"."id"
            from
              "search_entries"
            where
              "search_entries"."words" @@ whole_title.query
              and "search_entries"."workspace_id"::text = (
                select
                  $4::uuid
              )::text
            limit
              10
          ) as found
      ),
      asked_words as materialized (
        select
          word,
          row_number() over (
            order by
              length(word) desc,
              n
          ) as n,
          search_query (
            (
              select
                $5::uuid
            ),
            'seed',
            true,
            length(word) > 2,
            word
          ) as query
        from
          (
            select
              word,
              min(n) as n,
              bool_or(
                length(word) > 2
                or search_is_unspaced (word)
                and length(word) > 1
                or word ~ '[0-9]'
              ) as is_telling
            from
              unnest(
                search_words (
                  (
                    select
                      $6::text
                  )
                )
              ) with ordinality as list (word, n)
            group by
              word
          ) as each_word
        where
          (
            select
              count(*)
            from
              whole_titles
          ) < 5
          and (
            is_telling
            or not exists (
              select
              from
                unnest(
                  search_words (
                    (
                      select
                        $7::text
                    )
                  )
                ) as word
              where
                length(word) > 2
                or search_is_unspaced (word)
                and length(word) > 1
                or word ~ '[0-9]'
            )
          )
        order by
          n
        limit
          6
      ),
      known_words as materialized (
        select
          word,
          n,
          query,
          exists (
            select
            from
              "search_entries"
            where
              "search_entries"."words" @@ asked_words.query
              and "search_entries"."workspace_id"::text = (
                select
                  $8::uuid
              )::text
          ) as is_known
        from
          asked_words
      ),
      terms as materialized (
        select
          query
        from
          known_words
        where
          is_known
        union all
        select
          string_agg('(' || query::text || ')', ' & ')::tsquery
        from
          known_words
        where
          is_known
        having
          count(*) > 2
        union all
        select
          one.query && other.query
        from
          known_words as one
          join known_words as other on one.n < other.n
          and other.n <= 4
        where
          one.is_known
          and other.is_known
        union all
        -- What no title has may have a mistake in it, or be in the middle of a word.
        select
          search_similar (
            (
              select
                $9::uuid
            ),
            'seed',
            true,
            true,
            word,
            true
          )
        from
          known_words
        where
          not is_known
      )
    select
      id,
      sum(1.0 / matches) as weight
    from
      (
        select
          id,
          count(*) over () as matches
        from
          whole_titles
        union all
        select
          matching.id,
          count(*) over (
            partition by
              term
          ) as matches
        from
          (
            select
              query,
              row_number() over () as term
            from
              terms
          ) as terms,
          lateral (
            select
              "search_entries"."id"
            from
              "search_entries"
            where
              "search_entries"."words" @@ terms.query
              and "search_entries"."workspace_id"::text = (
                select
                  $10::uuid
              )::text
            limit
              40
          ) as matching
      ) as matched
    group by
      id
    order by
      weight desc,
      id desc
    limit
      60
  ) as found
  inner join "seeds" on "seeds"."id" = found.id
  and "seeds"."deleted_at" is null;

-- seeds_select_team
select
  "teams"."id",
  "teams"."name"
from
  "seeds"
  inner join "teams" on "teams"."id" = "seeds"."team_id"
where
  (
    "seeds"."workspace_id" = $1
    and "seeds"."id" = $2
  );

-- seeds_select_team_and_labels
select
  (
    select
      json_build_object('id', "teams"."id", 'name', "teams"."name")
    from
      "teams"
    where
      "teams"."id" = $1::uuid
      and "teams"."workspace_id" = $2::uuid
  ),
  coalesce(
    (
      select
        json_agg(label)
      from
        (
          select
            "labels"."id",
            "labels"."name"
          from
            "labels"
          where
            "labels"."id" = any (
              (
                select
                  $3::uuid[]
              )::uuid[]
            )
            and "labels"."workspace_id" = $4::uuid
          order by
            "labels"."id"
        ) as label
    ),
    '[]'
  )
from
  (
    select
  ) as nothing;

-- seeds_select_use
select
  (
    (
      exists (
        select
        from
          "seed_participants"
        where
          (
            "seed_participants"."seed_id" = "seeds"."id"
            and "seed_participants"."user_id" is distinct from "seeds"."created_by_user_id"
          )
      )
      or exists (
        select
        from
          "evidence"
        where
          (
            "evidence"."seed_id" = "seeds"."id"
            and "evidence"."author_user_id" is distinct from "seeds"."created_by_user_id"
          )
      )
      or exists (
        select
        from
          "comments"
        where
          (
            "comments"."seed_id" = "seeds"."id"
            and "comments"."author_user_id" is distinct from "seeds"."created_by_user_id"
          )
      )
    )
  ),
  (
    (
      exists (
        select
        from
          "evidence"
        where
          (
            "evidence"."seed_id" = "seeds"."id"
            and "evidence"."agent_name" is null
          )
      )
      or exists (
        select
        from
          "comments"
        where
          (
            "comments"."seed_id" = "seeds"."id"
            and "comments"."grant_id" is distinct from "seeds"."grant_id"
          )
      )
    )
  )
from
  "seeds"
where
  (
    "seeds"."workspace_id" = $1
    and "seeds"."id" = $2
  );

-- seeds_set_deleted
update "seeds"
set
  "updated_at" = $1::timestamptz,
  "deleted_at" = $2::timestamptz
where
  (
    "seeds"."workspace_id" = $3
    and "seeds"."id" = $4
  );

-- seeds_touch
update "seeds"
set
  "updated_at" = $1::timestamptz
where
  (
    "seeds"."workspace_id" = $2
    and "seeds"."id" = $3
  );

-- seeds_touch_of_attachment
update "seeds"
set
  "updated_at" = $1::timestamptz
where
  (
    "seeds"."workspace_id" = $2
    and "seeds"."id" = $3
  );

-- service_accounts_count
select
  count(*)
from
  "service_accounts"
where
  (
    "service_accounts"."workspace_id" = $1
    and "service_accounts"."deleted_at" is null
  );

-- service_accounts_select
select
  "service_accounts"."id",
  "service_accounts"."user_id",
  "users"."name",
  "memberships"."role",
  "service_accounts"."created_by_user_id",
  "makers"."name",
  "service_accounts"."created_at",
  greatest(
    (
      select
        max("api_keys"."last_used_at")
      from
        "api_keys"
      where
        "api_keys"."user_id" = "users"."id"
    ),
    (
      select
        max("agent_grants"."last_used_at")
      from
        "agent_grants"
      where
        "agent_grants"."workspace_id" = "service_accounts"."workspace_id"
        and "agent_grants"."user_id" = "users"."id"
    )
  )
from
  "service_accounts"
  inner join "users" on "users"."id" = "service_accounts"."user_id"
  inner join "memberships" on (
    "memberships"."workspace_id" = "service_accounts"."workspace_id"
    and "memberships"."user_id" = "service_accounts"."user_id"
  )
  left join "users" "makers" on "makers"."id" = "service_accounts"."created_by_user_id"
where
  (
    "service_accounts"."workspace_id" = $1
    and "service_accounts"."deleted_at" is null
  )
order by
  "service_accounts"."created_at" asc,
  "service_accounts"."id" asc;

-- service_accounts_select_by_id
select
  "service_accounts"."id",
  "service_accounts"."user_id",
  "users"."name",
  "memberships"."role",
  "service_accounts"."created_by_user_id",
  "makers"."name",
  "service_accounts"."created_at",
  greatest(
    (
      select
        max("api_keys"."last_used_at")
      from
        "api_keys"
      where
        "api_keys"."user_id" = "users"."id"
    ),
    (
      select
        max("agent_grants"."last_used_at")
      from
        "agent_grants"
      where
        "agent_grants"."workspace_id" = "service_accounts"."workspace_id"
        and "agent_grants"."user_id" = "users"."id"
    )
  )
from
  "service_accounts"
  inner join "users" on "users"."id" = "service_accounts"."user_id"
  inner join "memberships" on (
    "memberships"."workspace_id" = "service_accounts"."workspace_id"
    and "memberships"."user_id" = "service_accounts"."user_id"
  )
  left join "users" "makers" on "makers"."id" = "service_accounts"."created_by_user_id"
where
  (
    "service_accounts"."workspace_id" = $1
    and "service_accounts"."deleted_at" is null
    and "service_accounts"."id" = $2
  )
order by
  "service_accounts"."created_at" asc,
  "service_accounts"."id" asc;

-- sessions_lock_live
select
  "id"
from
  "sessions"
where
  (
    "sessions"."id" = $1
    and "sessions"."expires_at" > $2
    and not exists (
      select
      from
        "users" as suspended
      where
        suspended.id = "sessions"."user_id"
        and suspended.suspended_at is not null
    )
  )
for share;

-- sessions_select_live
select
  "sessions"."id",
  "sessions"."created_at",
  "sessions"."last_used_at",
  "sessions"."renewals",
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
          "workspaces"."id",
          "workspaces"."name",
          "workspaces"."slug",
          $1::text || "workspaces"."icon_key" as "iconUrl"
        from
          "memberships"
          join "workspaces" on (
            "workspaces"."id" = "memberships"."workspace_id"
            and "workspaces"."deleted_at" is null
          )
        where
          "memberships"."user_id" = "users"."id"
        order by
          "memberships"."last_used_at" desc,
          "memberships"."joined_at" desc,
          "memberships"."workspace_id" desc
        limit
          20
      ) as recent
  ),
  (
    select
      count(*)::int
    from
      (
        select
        from
          "notifications"
          left join "seeds" on "seeds"."id" = "notifications"."seed_id"
        where
          (
            "notifications"."user_id" = "users"."id"
            and "notifications"."read_at" is null
            and "seeds"."deleted_at" is null
          )
        limit
          100
      ) as unread
  ) as "unread_count"
from
  "sessions"
  inner join "users" on (
    "users"."id" = "sessions"."user_id"
    and "users"."suspended_at" is null
  )
where
  (
    "sessions"."token_hash" = $2
    and "sessions"."expires_at" > $3
  );

-- team_members_insert_of_invite
insert into
  "team_members" ("team_id", "user_id", "workspace_id", "added_at")
select
  "id",
  $1::uuid as "user_id",
  "workspace_id",
  $2::timestamptz as "added_at"
from
  "teams"
where
  (
    "teams"."workspace_id" = $3
    and "teams"."id" = any ($4::uuid[])
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
        "team_members"."workspace_id" = (
          select
            $2::uuid
        )
        and "team_members"."team_id" = $3
        and ("team_members"."added_at", "team_members"."user_id") > (
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
      "team_members"."added_at" asc,
      "team_members"."user_id" asc
    limit
      (
        select
          $6::int
      )
  ) "rows";

-- teams_lock_for_invite
select
  "id"
from
  "teams"
where
  (
    "teams"."workspace_id" = $1
    and "teams"."id" = any ($2::uuid[])
  )
order by
  "teams"."id" asc
for key share;

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
  "id",
  "kind",
  "email",
  "canonical_email",
  "email_verified_at",
  "first_signed_in_at",
  "suspended_at",
  "name",
  "image_key",
  "product_updates",
  "workspace_activity",
  "notify_mentions",
  "notify_digest",
  "notify_role_changes",
  "notify_accepted_invites",
  "notify_agents",
  "notify_decisions",
  "notify_agent_requests",
  "created_at",
  "search_text"
from
  "users"
where
  "users"."id" = $1
for no key update;

-- users_lock_name
select
  "name"
from
  "users"
where
  "users"."id" = $1
for no key update;

-- users_lock_preferences
select
  "product_updates",
  "workspace_activity"
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

-- webhook_deliveries_claim
update "webhook_deliveries"
set
  "leased_until" = $1::timestamptz
from
  (
    with recursive
      waiting as (
        (
          select
            "webhook_deliveries"."webhook_id",
            "webhook_deliveries"."next_attempt_at"
          from
            "webhook_deliveries"
          where
            "webhook_deliveries"."status" = 'pending'
          order by
            "webhook_deliveries"."webhook_id",
            "webhook_deliveries"."next_attempt_at"
          limit
            1
        )
        union all
        select
          next.webhook_id,
          next.next_attempt_at
        from
          waiting,
          lateral (
            select
              "webhook_deliveries"."webhook_id",
              "webhook_deliveries"."next_attempt_at"
            from
              "webhook_deliveries"
            where
              "webhook_deliveries"."status" = 'pending'
              and "webhook_deliveries"."webhook_id" > waiting.webhook_id
            order by
              "webhook_deliveries"."webhook_id",
              "webhook_deliveries"."next_attempt_at"
            limit
              1
          ) as next
      ),
      ready as (
        select
          *
        from
          (
            select
              "webhooks"."id" as id,
              "webhooks"."failing_since" is not null as is_failing,
              waiting.next_attempt_at,
              "webhooks"."format" is not null as is_chat,
              case
                when "webhooks"."format" is not null then case in_progress
                  when 0 then 100
                  else 0
                end
                when "webhooks"."slowed_count" > 0 then 1 - in_progress
                else 4 - in_progress
              end as free
            from
              waiting
              join "webhooks" on "webhooks"."id" = waiting.webhook_id,
              lateral (
                select
                  count(*) as in_progress
                from
                  "webhook_deliveries"
                where
                  "webhook_deliveries"."webhook_id" = "webhooks"."id"
                  and "webhook_deliveries"."leased_until" > (
                    select
                      $2::timestamptz
                  )
              ) as leased
            where
              waiting.next_attempt_at <= (
                select
                  $3::timestamptz
              )
              and "webhooks"."disabled_reason" is null
              and "webhooks"."deleted_at" is null
              and (
                "webhooks"."paused_until" is null
                or "webhooks"."paused_until" <= (
                  select
                    $4::timestamptz
                )
              )
          ) as due
        where
          free > 0
        order by
          is_failing,
          next_attempt_at
        limit
          64
      ),
      numbered as (
        select
          found.*,
          ready.is_failing,
          dense_rank() over (
            partition by
              ready.is_failing
            order by
              case
                when ready.is_chat then ready.next_attempt_at
                else found.next_attempt_at
              end,
              ready.id,
              case
                when not ready.is_chat then found.event_id
              end
          ) as number,
          dense_rank() over (
            order by
              ready.is_failing,
              case
                when ready.is_chat then ready.next_attempt_at
                else found.next_attempt_at
              end,
              ready.id,
              case
                when not ready.is_chat then found.event_id
              end
          ) as number_of_all
        from
          ready,
          lateral (
            select
              "webhook_deliveries"."webhook_id",
              "webhook_deliveries"."event_id",
              "webhook_deliveries"."next_attempt_at"
            from
              "webhook_deliveries"
            where
              "webhook_deliveries"."webhook_id" = ready.id
              and "webhook_deliveries"."status" = 'pending'
              and "webhook_deliveries"."next_attempt_at" <= (
                select
                  $5::timestamptz
              )
              and (
                "webhook_deliveries"."leased_until" is null
                or "webhook_deliveries"."leased_until" <= (
                  select
                    $6::timestamptz
                )
              )
              and exists (
                select
                from
                  "events"
                where
                  "events"."id" = "webhook_deliveries"."event_id"
              )
            order by
              "webhook_deliveries"."next_attempt_at"
            limit
              ready.free
            for no key update
              skip locked
          ) as found
      )
    select
      webhook_id,
      event_id
    from
      numbered
    where
      (
        not is_failing
        or number <= (
          select
            $7::int
        )
      )
      and number_of_all <= (
        select
          $8::int
      )
  ) as due
  inner join "webhooks" on "webhooks"."id" = due.webhook_id
  inner join "events" on "events"."id" = due.event_id
where
  "webhook_deliveries"."webhook_id" = due.webhook_id
  and "webhook_deliveries"."event_id" = due.event_id
returning
  "webhook_deliveries"."webhook_id",
  "webhook_deliveries"."event_id",
  "webhook_deliveries"."type",
  "webhook_deliveries"."attempts",
  "webhook_deliveries"."created_at",
  (
    select
      row_to_json(item)
    from
      (
        select
          "events"."id" as "id",
          "events"."type" as "type",
          "events"."actor_type" as "actorType",
          "events"."actor_user_id" as "actorUserId",
          "events"."actor_name" as "actorName",
          "events"."grant_id" as "grantId",
          "events"."api_key_id" as "apiKeyId",
          "events"."source" as "source",
          "events"."target_type" as "targetType",
          "events"."target_id" as "targetId",
          "events"."summary" as "summary",
          "events"."data" as "data",
          to_char("events"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
          "events"."workspace_id" as "workspaceId",
          $9::text || "events"."seed_id" || case
            when "events"."target_type" in ('comment', 'evidence') then '#' || "events"."target_type" || '-' || "events"."target_id"
            else ''
          end as "url"
      ) as item
  ),
  "events"."position",
  "webhooks"."workspace_id",
  "webhooks"."url",
  "webhooks"."format",
  "webhooks"."types",
  "webhooks"."sealed_secret",
  "webhooks"."previous_sealed_secret",
  "webhooks"."previous_secret_until",
  array(
    select
      "webhook_former_secrets"."sealed_secret"
    from
      "webhook_former_secrets"
    where
      "webhook_former_secrets"."webhook_id" = "webhooks"."id"
      and "webhooks"."previous_secret_until" is not null
      and "webhook_former_secrets"."signs_until" > (
        select
          $10::timestamptz
      )
    order by
      "webhook_former_secrets"."created_at" desc,
      "webhook_former_secrets"."id" desc
  ) as "former_sealed_secrets",
  "webhooks"."failing_since",
  "webhooks"."slowed_count";

-- webhook_deliveries_insert
insert into
  "webhook_deliveries" (
    "webhook_id",
    "event_id",
    "type",
    "status",
    "attempts",
    "last_status",
    "last_error",
    "next_attempt_at",
    "leased_until",
    "created_at",
    "delivered_at"
  )
select
  "id",
  $1::uuid as "event_id",
  $2::text as "type",
  'pending' as "status",
  0 as "attempts",
  null::integer as "last_status",
  null as "last_error",
  $3::timestamptz as "next_attempt_at",
  null::timestamptz as "leased_until",
  $4::timestamptz as "created_at",
  null::timestamptz as "delivered_at"
from
  "webhooks"
where
  (
    "webhooks"."workspace_id" = (
      select
        $5::uuid
    )
    and (
      "webhooks"."deleted_at" is null
      and "webhooks"."disabled_reason" is null
      and case
        when "webhooks"."types" = '{}' then "webhooks"."format" is null
        or $6::text = 'everybody'
        else $7 = any ("webhooks"."types")
      end
    )
    and (
      "webhooks"."seed_ids" = '{}'
      and "webhooks"."team_ids" = '{}'
      and "webhooks"."label_ids" = '{}'
    )
  );

-- webhook_deliveries_insert_of_each
insert into
  "webhook_deliveries" (
    "webhook_id",
    "event_id",
    "type",
    "status",
    "attempts",
    "last_status",
    "last_error",
    "next_attempt_at",
    "leased_until",
    "created_at",
    "delivered_at"
  )
select
  "webhooks"."id",
  told.id as "event_id",
  $1::text as "type",
  'pending' as "status",
  0 as "attempts",
  null::integer as "last_status",
  null as "last_error",
  $2::timestamptz as "next_attempt_at",
  null::timestamptz as "leased_until",
  $3::timestamptz as "created_at",
  null::timestamptz as "delivered_at"
from
  unnest(
    (
      select
        $4::uuid[]
    )::uuid[],
    (
      select
        $5::uuid[]
    )::uuid[]
  ) as told (id, workspace_id)
  inner join "webhooks" on (
    "webhooks"."workspace_id" = told.workspace_id
    and (
      "webhooks"."deleted_at" is null
      and "webhooks"."disabled_reason" is null
      and case
        when "webhooks"."types" = '{}' then "webhooks"."format" is null
        or $6::text = 'everybody'
        else $7 = any ("webhooks"."types")
      end
    )
    and (
      "webhooks"."seed_ids" = '{}'
      and "webhooks"."team_ids" = '{}'
      and "webhooks"."label_ids" = '{}'
    )
  );

-- webhook_deliveries_insert_of_seed
insert into
  "webhook_deliveries" (
    "webhook_id",
    "event_id",
    "type",
    "status",
    "attempts",
    "last_status",
    "last_error",
    "next_attempt_at",
    "leased_until",
    "created_at",
    "delivered_at"
  )
select
  "id",
  $1::uuid as "event_id",
  $2::text as "type",
  'pending' as "status",
  0 as "attempts",
  null::integer as "last_status",
  null as "last_error",
  $3::timestamptz as "next_attempt_at",
  null::timestamptz as "leased_until",
  $4::timestamptz as "created_at",
  null::timestamptz as "delivered_at"
from
  "webhooks"
where
  (
    "webhooks"."workspace_id" = (
      select
        $5::uuid
    )
    and (
      "webhooks"."deleted_at" is null
      and "webhooks"."disabled_reason" is null
      and case
        when "webhooks"."types" = '{}' then "webhooks"."format" is null
        or $6::text = 'everybody'
        else $7 = any ("webhooks"."types")
      end
    )
    and (
      (
        "webhooks"."seed_ids" = '{}'
        or $8::uuid = any ("webhooks"."seed_ids")
      )
      and (
        "webhooks"."team_ids" = '{}'
        and "webhooks"."label_ids" = '{}'
        or exists (
          select
          from
            "seeds"
          where
            "seeds"."workspace_id" = "webhooks"."workspace_id"
            and "seeds"."id" = (
              select
                $9::uuid
            )
            and (
              "webhooks"."team_ids" = '{}'
              or exists (
                select
                from
                  "teams"
                where
                  "teams"."id" = "seeds"."team_id"
                  and "teams"."id" = any ("webhooks"."team_ids")
              )
            )
            and (
              "webhooks"."label_ids" = '{}'
              or exists (
                select
                from
                  "labels"
                where
                  "labels"."id" = any ("seeds"."label_ids")
                  and "labels"."id" = any ("webhooks"."label_ids")
              )
            )
        )
      )
    )
  );

-- webhook_deliveries_lock_claims
select
  pg_advisory_xact_lock(hashtextextended ('webhook deliveries', 0))
from
  (
    values
      (0)
  ) as claims;

-- webhook_deliveries_record
update "webhook_deliveries"
set
  "status" = $1::text,
  "attempts" = "webhook_deliveries"."attempts" + 1,
  "last_status" = $2::integer,
  "last_error" = $3::text,
  "next_attempt_at" = $4::timestamptz,
  "leased_until" = $5,
  "delivered_at" = $6::timestamptz
where
  (
    "webhook_deliveries"."webhook_id" = $7
    and "webhook_deliveries"."event_id" = $8
    and "webhook_deliveries"."leased_until" = $9::timestamptz
  );

-- webhook_deliveries_release
update "webhook_deliveries"
set
  "leased_until" = $1
where
  (
    "webhook_deliveries"."webhook_id" = $2
    and "webhook_deliveries"."event_id" = $3
    and "webhook_deliveries"."leased_until" = $4::timestamptz
  );

-- webhook_deliveries_select_all
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "webhook_deliveries"."event_id" as "id",
      "event_id" as "eventId",
      "type" as "type",
      "status" as "status",
      "attempts" as "attempts",
      "last_status" as "lastStatus",
      "last_error" as "lastError",
      to_char(
        case
          when "webhook_deliveries"."next_attempt_at" is not null then greatest(
            "webhook_deliveries"."next_attempt_at",
            (
              select
                $1::timestamptz
            )
          )
        end at time zone 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
      ) as "nextAttemptAt",
      to_char("webhook_deliveries"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("webhook_deliveries"."delivered_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "deliveredAt"
    from
      "webhook_deliveries"
    where
      (
        "webhook_deliveries"."webhook_id" = (
          select
            $2::uuid
        )
        and ("webhook_deliveries"."created_at", "webhook_deliveries"."event_id") < (
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
      "webhook_deliveries"."created_at" desc,
      "webhook_deliveries"."event_id" desc
    limit
      (
        select
          $5::int
      )
  ) "rows";

-- webhook_deliveries_select_delivered
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "webhook_deliveries"."event_id" as "id",
      "event_id" as "eventId",
      "type" as "type",
      "status" as "status",
      "attempts" as "attempts",
      "last_status" as "lastStatus",
      "last_error" as "lastError",
      to_char(
        case
          when "webhook_deliveries"."next_attempt_at" is not null then greatest(
            "webhook_deliveries"."next_attempt_at",
            (
              select
                $1::timestamptz
            )
          )
        end at time zone 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
      ) as "nextAttemptAt",
      to_char("webhook_deliveries"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("webhook_deliveries"."delivered_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "deliveredAt"
    from
      "webhook_deliveries"
    where
      (
        "webhook_deliveries"."webhook_id" = (
          select
            $2::uuid
        )
        and "webhook_deliveries"."status" = 'delivered'
        and ("webhook_deliveries"."created_at", "webhook_deliveries"."event_id") < (
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
      "webhook_deliveries"."created_at" desc,
      "webhook_deliveries"."event_id" desc
    limit
      (
        select
          $5::int
      )
  ) "rows";

-- webhook_deliveries_select_failed
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "webhook_deliveries"."event_id" as "id",
      "event_id" as "eventId",
      "type" as "type",
      "status" as "status",
      "attempts" as "attempts",
      "last_status" as "lastStatus",
      "last_error" as "lastError",
      to_char(
        case
          when "webhook_deliveries"."next_attempt_at" is not null then greatest(
            "webhook_deliveries"."next_attempt_at",
            (
              select
                $1::timestamptz
            )
          )
        end at time zone 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
      ) as "nextAttemptAt",
      to_char("webhook_deliveries"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("webhook_deliveries"."delivered_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "deliveredAt"
    from
      "webhook_deliveries"
    where
      (
        "webhook_deliveries"."webhook_id" = (
          select
            $2::uuid
        )
        and "webhook_deliveries"."status" = 'failed'
        and ("webhook_deliveries"."created_at", "webhook_deliveries"."event_id") < (
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
      "webhook_deliveries"."created_at" desc,
      "webhook_deliveries"."event_id" desc
    limit
      (
        select
          $5::int
      )
  ) "rows";

-- webhook_deliveries_select_pending
select
  coalesce(string_agg(row_to_json("rows")::text, E',\n'), '') as "text",
  count(*)::int as "count"
from
  (
    select
      "webhook_deliveries"."event_id" as "id",
      "event_id" as "eventId",
      "type" as "type",
      "status" as "status",
      "attempts" as "attempts",
      "last_status" as "lastStatus",
      "last_error" as "lastError",
      to_char(
        case
          when "webhook_deliveries"."next_attempt_at" is not null then greatest(
            "webhook_deliveries"."next_attempt_at",
            (
              select
                $1::timestamptz
            )
          )
        end at time zone 'UTC',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
      ) as "nextAttemptAt",
      to_char("webhook_deliveries"."created_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
      to_char("webhook_deliveries"."delivered_at" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "deliveredAt"
    from
      "webhook_deliveries"
    where
      (
        "webhook_deliveries"."webhook_id" = (
          select
            $2::uuid
        )
        and "webhook_deliveries"."status" = 'pending'
        and ("webhook_deliveries"."created_at", "webhook_deliveries"."event_id") < (
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
      "webhook_deliveries"."created_at" desc,
      "webhook_deliveries"."event_id" desc
    limit
      (
        select
          $5::int
      )
  ) "rows";

-- webhooks_record_delivery
update "webhooks"
set
  "last_delivery_at" = $1::timestamptz,
  "failing_since" = $2,
  "slowed_count" = $3,
  "paused_until" = case
    when "webhooks"."format" is not null then $4::timestamptz + interval '1 minute'
  end,
  "pause_reason" = $5
where
  (
    "webhooks"."id" = $6
    and (
      "webhooks"."failing_since" is not null
      or "webhooks"."slowed_count" > 0
      or "webhooks"."last_delivery_at" is null
      or "webhooks"."format" is not null
      or "webhooks"."last_delivery_at" < $7::timestamptz - interval '10 seconds'
    )
  );

-- webhooks_record_failure
update "webhooks"
set
  "last_failure_at" = $1::timestamptz,
  "failing_since" = coalesce("webhooks"."failing_since", $2::timestamptz),
  "slowed_count" = "webhooks"."slowed_count" + case
    when $3::timestamptz is null then 0
    else 1
  end,
  "paused_until" = greatest("webhooks"."paused_until", $4::timestamptz),
  "pause_reason" = case
    when $5::timestamptz < "webhooks"."paused_until" then "webhooks"."pause_reason"
    else coalesce($6::text, "webhooks"."pause_reason")
  end
where
  "webhooks"."id" = $7;

-- webhooks_select
select
  "id",
  "url",
  "description",
  "format",
  "types",
  "seed_ids",
  "team_ids",
  "label_ids",
  "disabled_reason",
  "created_at",
  "last_delivery_at",
  "last_failure_at",
  "failing_since",
  "paused_until",
  "pause_reason",
  "shown_to_user_id",
  "secret_created_at",
  "previous_secret_until",
  (
    select
      coalesce(
        json_agg(to_char("webhook_former_secrets"."signs_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
        '[]'
      )
    from
      "webhook_former_secrets"
    where
      "webhook_former_secrets"."webhook_id" = "webhooks"."id"
  ) as "former_secrets_until"
from
  "webhooks"
where
  (
    "webhooks"."id" = $1
    and (
      "webhooks"."workspace_id" = $2
      and "webhooks"."deleted_at" is null
    )
  );

-- webhooks_select_known
select distinct
  "webhooks"."id",
  "webhooks"."url",
  "webhooks"."created_at"
from
  "webhooks"
  left join "webhook_former_secrets" on "webhook_former_secrets"."webhook_id" = "webhooks"."id"
where
  (
    "webhooks"."workspace_id" = $1
    and "webhooks"."deleted_at" is null
    and "webhooks"."format" is null
    and (
      "webhooks"."shown_to_user_id" = $2
      or (
        "webhook_former_secrets"."shown_to_user_id" = $3
        and "webhook_former_secrets"."signs_until" > $4
      )
    )
  )
order by
  "webhooks"."created_at" asc,
  "webhooks"."id" asc;

-- webhooks_select_of_workspace
select
  "id",
  "url",
  "description",
  "format",
  "types",
  "seed_ids",
  "team_ids",
  "label_ids",
  "disabled_reason",
  "created_at",
  "last_delivery_at",
  "last_failure_at",
  "failing_since",
  "paused_until",
  "pause_reason",
  "shown_to_user_id",
  "secret_created_at",
  "previous_secret_until",
  (
    select
      coalesce(
        json_agg(to_char("webhook_former_secrets"."signs_until" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
        '[]'
      )
    from
      "webhook_former_secrets"
    where
      "webhook_former_secrets"."webhook_id" = "webhooks"."id"
  ) as "former_secrets_until"
from
  "webhooks"
where
  (
    "webhooks"."workspace_id" = $1
    and "webhooks"."deleted_at" is null
  )
order by
  "webhooks"."created_at" asc,
  "webhooks"."id" asc;

-- webhooks_select_secrets
select
  "sealed_secret",
  "previous_sealed_secret",
  "previous_secret_until",
  array(
    select
      "webhook_former_secrets"."sealed_secret"
    from
      "webhook_former_secrets"
    where
      "webhook_former_secrets"."webhook_id" = "webhooks"."id"
      and "webhooks"."previous_secret_until" is not null
      and "webhook_former_secrets"."signs_until" > (
        select
          $1::timestamptz
      )
    order by
      "webhook_former_secrets"."created_at" desc,
      "webhook_former_secrets"."id" desc
  ) as "former_sealed_secrets"
from
  "webhooks"
where
  (
    "webhooks"."id" = $2
    and (
      "webhooks"."workspace_id" = $3
      and "webhooks"."deleted_at" is null
    )
  );

-- workspace_slugs_select_holder
select
  "workspace_slugs"."workspace_id",
  "memberships"."user_id"
from
  "workspace_slugs"
  left join "workspaces" on (
    "workspaces"."id" = "workspace_slugs"."workspace_id"
    and "workspaces"."deleted_at" is null
  )
  left join "memberships" on (
    "memberships"."workspace_id" = "workspaces"."id"
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

-- workspace_storage_select
select
  "attachment_bytes"
from
  "workspace_storage"
where
  "workspace_storage"."workspace_id" = $1;

-- workspaces_lock_members
select
  "id"
from
  "workspaces"
where
  "workspaces"."id" = $1
for no key update;

-- workspaces_select_by_any_seed
select
  asked.ordinal::int,
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
  ) as "is_use_recorded",
  "seeds"."id"
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
  ) with ordinality as asked (key, user_id, ordinal)
  inner join "seeds" on "seeds"."id" = asked.key
  inner join "workspaces" on (
    "workspaces"."id" = "seeds"."workspace_id"
    and "workspaces"."deleted_at" is null
  );

-- workspaces_select_by_comment
select
  asked.ordinal::int,
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
  ) as "is_use_recorded",
  "seeds"."id"
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
  ) with ordinality as asked (key, user_id, ordinal)
  inner join "comments" on "comments"."id" = asked.key
  inner join "seeds" on (
    "seeds"."id" = "comments"."seed_id"
    and "seeds"."deleted_at" is null
  )
  inner join "workspaces" on (
    "workspaces"."id" = "seeds"."workspace_id"
    and "workspaces"."deleted_at" is null
  );

-- workspaces_select_by_evidence
select
  asked.ordinal::int,
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
  ) as "is_use_recorded",
  "seeds"."id"
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
  ) with ordinality as asked (key, user_id, ordinal)
  inner join "evidence" on "evidence"."id" = asked.key
  inner join "seeds" on (
    "seeds"."id" = "evidence"."seed_id"
    and "seeds"."deleted_at" is null
  )
  inner join "workspaces" on (
    "workspaces"."id" = "seeds"."workspace_id"
    and "workspaces"."deleted_at" is null
  );

-- workspaces_select_by_merged_seed
select
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
      and "memberships"."user_id" = $1::uuid
  ) as "caller_role",
  (
    select
      "memberships"."last_used_at" > $2
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
      and "memberships"."user_id" = $3::uuid
  ) as "is_use_recorded",
  "seeds"."id"
from
  "seeds"
  inner join "workspaces" on (
    "workspaces"."id" = "seeds"."workspace_id"
    and "workspaces"."deleted_at" is null
  )
where
  (
    "seeds"."id" = (
      with recursive
        chain (id, into_id) as (
          select
            id,
            merged_into_seed_id
          from
            "seeds"
          where
            id = $4::uuid
          union all
          select
            next.id,
            next.merged_into_seed_id
          from
            chain
            join "seeds" as next on next.id = chain.into_id
        )
      select
        id
      from
        chain
      where
        into_id is null
        and id <> $5::uuid
    )
    and "seeds"."deleted_at" is null
  );

-- workspaces_select_by_seed
select
  asked.ordinal::int,
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
  ) with ordinality as asked (key, user_id, ordinal)
  inner join "seeds" on (
    "seeds"."id" = asked.key
    and "seeds"."deleted_at" is null
  )
  inner join "workspaces" on (
    "workspaces"."id" = "seeds"."workspace_id"
    and "workspaces"."deleted_at" is null
  );

-- workspaces_select_by_slug
select
  asked.ordinal::int,
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
  ) as "is_use_recorded",
  coalesce(
    (
      select
        "event_positions"."last"
      from
        "event_positions"
      where
        "event_positions"."workspace_id" = "workspaces"."id"
    ),
    0
  )
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
  ) with ordinality as asked (key, user_id, ordinal)
  inner join "workspace_slugs" on "workspace_slugs"."slug" = asked.key
  inner join "workspaces" on (
    "workspaces"."id" = "workspace_slugs"."workspace_id"
    and "workspaces"."deleted_at" is null
  )
where
  (
    "workspace_slugs"."kept_until" is null
    or "workspace_slugs"."kept_until" > $4
  );

-- workspaces_select_new_offer
select
  "workspaces"."id"
from
  "workspaces"
  left join "memberships" on (
    "memberships"."workspace_id" = "workspaces"."id"
    and "memberships"."user_id" = $1
  )
  left join "departures" on (
    "departures"."workspace_id" = "workspaces"."id"
    and "departures"."user_id" = $2
  )
where
  (
    "workspaces"."deleted_at" is null
    and "workspaces"."allowed_domains" @> array[$3]::text[]
    and "memberships"."user_id" is null
    and case
      when (
        select
          $4::boolean
      ) then "departures"."kind" is null
      else "departures"."kind" is distinct from 'removed'
    end
  )
limit
  $5;

-- workspaces_select_offer
select
  "workspaces"."slug",
  "departures"."kind"
from
  "workspaces"
  left join "memberships" on (
    "memberships"."workspace_id" = "workspaces"."id"
    and "memberships"."user_id" = $1
  )
  left join "departures" on (
    "departures"."workspace_id" = "workspaces"."id"
    and "departures"."user_id" = $2
  )
where
  (
    "workspaces"."id" = $3
    and (
      "workspaces"."deleted_at" is null
      and "workspaces"."allowed_domains" @> array[$4]::text[]
      and "memberships"."user_id" is null
      and case
        when (
          select
            $5::boolean
        ) then "departures"."kind" is null
        else "departures"."kind" is distinct from 'removed'
      end
    )
  );

-- workspaces_select_offers
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
              "workspaces"."id" as "workspaceId",
              "workspaces"."name" as "workspaceName",
              "workspaces"."slug" as "workspaceSlug",
              $1::text || "workspaces"."icon_key" as "workspaceIconUrl",
              (
                select
                  count(*)::int
                from
                  memberships as members
                  join users as people on people.id = members.user_id
                  and people.kind = 'person'
                where
                  members.workspace_id = "workspaces"."id"
              ) as "memberCount"
          ) as item
      ) as "item",
      "workspaces"."created_at"
    from
      "workspaces"
      left join "memberships" on (
        "memberships"."workspace_id" = "workspaces"."id"
        and "memberships"."user_id" = $2
      )
      left join "departures" on (
        "departures"."workspace_id" = "workspaces"."id"
        and "departures"."user_id" = $3
      )
    where
      (
        (
          "workspaces"."deleted_at" is null
          and "workspaces"."allowed_domains" @> array[$4]::text[]
          and "memberships"."user_id" is null
          and case
            when (
              select
                $5::boolean
            ) then "departures"."kind" is null
            else "departures"."kind" is distinct from 'removed'
          end
        )
        and ("workspaces"."created_at", "workspaces"."id") > (
          (
            select
              $6::timestamptz
          ),
          (
            select
              $7::uuid
          )
        )
      )
    order by
      "workspaces"."created_at" asc,
      "workspaces"."id" asc
    limit
      (
        select
          $8::int
      )
  ) "rows";
