export interface paths {
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the process is alive
         * @description Does not use the database. A process that responds does not need a restart.
         */
        get: operations["system.health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the service can answer requests
         * @description Returns 503 while the database is unreachable or not migrated, and while the process stops.
         */
        get: operations["system.ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-authorization-server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the metadata of the authorization server
         * @description Authorization server metadata (RFC 8414).
         */
        get: operations["agentOAuth.serverMetadata"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-protected-resource": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the metadata of the protected resource
         * @description Protected resource metadata (RFC 9728) of the MCP endpoint and of the validation kit.
         */
        get: operations["agentOAuth.resourceMetadata"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/oauth/jwks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the keys that verify access tokens
         * @description A JSON Web Key Set (RFC 7517), without private parts.
         */
        get: operations["agentOAuth.jwks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/oauth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Register an agent as an OAuth client
         * @description Dynamic client registration (RFC 7591). Unknown metadata is ignored; the rest is limited to 4 KiB. Clients without `token_endpoint_auth_method` are public clients and get no secret; those with `private_key_jwt` bring keys. Clients without a grant are deleted after seven days, or sooner if there are too many; others a year after their last use.
         */
        post: operations["agentOAuth.register"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/oauth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Exchange a code or a refresh token for tokens
         * @description The token endpoint of OAuth (RFC 6749 §3.2), with PKCE (RFC 7636) and resource indicators (RFC 8707).
         */
        post: operations["agentOAuth.token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/oauth/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke a refresh token
         * @description Token revocation (RFC 7009). Revoking a refresh token revokes the grant and all its access tokens. An access token alone cannot be revoked.
         */
        post: operations["agentOAuth.revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/validation-kit:read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read the validation kit
         * @description The seeds of the workspace that the agent has access to, with the evidence for and against them. The HTTP form of the MCP tool `read_validation_kit`. The body is optional; null and the empty string count as absent in its fields. The response has at most 512 KiB. If it would be larger, evidence is left out first, then seeds, the oldest first. `truncated` is then true: `nextCursor` continues the list of seeds, and `seedId` reads the evidence of a seed.
         */
        post: operations["agent.readValidationKit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/seeds:search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search the seeds
         * @description Finds up to 20 seeds by words of their texts, evidence and comments; those with the most of the words first. Go on with fetch. The HTTP form of the MCP tool `search`, with the scope `workspace:read`.
         */
        post: operations["agent.search"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/seeds:fetch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fetch a seed
         * @description One seed as text, with its newest evidence, participants and comments. read_validation_kit with seedId has the same as data. The HTTP form of the MCP tool `fetch`, with the scope `workspace:read`.
         */
        post: operations["agent.fetch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/people:list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List people
         * @description The people of the workspace with email address, role and teams. Only owners and admins see invited people. The HTTP form of the MCP tool `list_people`, with the scope `workspace:read`.
         */
        post: operations["agent.listPeople"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/events:list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List events
         * @description What happened, newest first. form: short (default) has a line for each event; digest sums up the newest 1000 by seed, for questions such as what happened this week; full has all data. Types are such as seed.created, seed.updated (also of the status), evidence.added, comment.added, member.joined. The HTTP form of the MCP tool `list_events`, with the scope `workspace:read`.
         */
        post: operations["agent.listEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/seeds:create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a seed
         * @description Creates a seed, an early idea to validate. It is open, and your person leads it. Search first, so that no seed is created twice. The HTTP form of the MCP tool `create_seed`, with the scope `seeds:write`.
         */
        post: operations["agent.createSeed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/seeds:update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change a seed
         * @description Changes texts, status or lead of a seed. Absent fields stay as they are; an empty problem, audience, hypothesis or leadUserId is cleared. The HTTP form of the MCP tool `update_seed`, with the scope `seeds:write`.
         */
        post: operations["agent.updateSeed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/seeds:join": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Join a seed
         * @description Makes your person a participant, who can add evidence. The HTTP form of the MCP tool `join_seed`, with the scope `seeds:write`.
         */
        post: operations["agent.joinSeed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/seeds:leave": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Leave a seed
         * @description Makes your person leave a seed: they no longer participate in it, lead it or follow it. Their evidence stays. The HTTP form of the MCP tool `leave_seed`, with the scope `seeds:write`.
         */
        post: operations["agent.leaveSeed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/evidence:add": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add evidence to a seed
         * @description Adds a finding for the hypothesis of a seed, against it, or neither. Your person must have joined the seed (join_seed). The HTTP form of the MCP tool `add_evidence`, with the scope `seeds:write`.
         */
        post: operations["agent.addEvidence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/evidence:update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Correct evidence
         * @description Corrects evidence of your person, in the 15 minutes after it was added; later, withdraw it. Absent fields stay; an empty sourceUrl is cleared. The HTTP form of the MCP tool `update_evidence`, with the scope `seeds:write`.
         */
        post: operations["agent.updateEvidence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/evidence:withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Withdraw evidence
         * @description Withdraws evidence of your person, which then no longer counts. It cannot be undone. The HTTP form of the MCP tool `withdraw_evidence`, with the scope `seeds:write`.
         */
        post: operations["agent.withdrawEvidence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/comments:add": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Comment on a seed
         * @description Adds a question, an answer or a suggestion to a seed, or to one piece of its evidence. Findings are evidence: add_evidence. `[@Name](user:ID)` mentions a person. Markdown. The HTTP form of the MCP tool `add_comment`, with the scope `seeds:write`.
         */
        post: operations["agent.addComment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/teams:list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List teams
         * @description The teams of the workspace, oldest first. list_people has who is in them. The HTTP form of the MCP tool `list_teams`, with the scope `workspace:write`.
         */
        post: operations["agent.listTeams"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/teams:create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a team
         * @description Creates a team without members. List the teams first, so that none is created twice. The HTTP form of the MCP tool `create_team`, with the scope `workspace:write`.
         */
        post: operations["agent.createTeam"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/teams:rename": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rename a team
         * @description Gives a team another name. Its members stay. The HTTP form of the MCP tool `rename_team`, with the scope `workspace:write`.
         */
        post: operations["agent.renameTeam"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/teams:delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete a team
         * @description Deletes a team. Its members stay in the workspace. It cannot be undone. The HTTP form of the MCP tool `delete_team`, with the scope `workspace:write`.
         */
        post: operations["agent.deleteTeam"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/teams:addMember": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a person to a team
         * @description Adds a member of the workspace to a team. list_people has their ids. The HTTP form of the MCP tool `add_team_member`, with the scope `workspace:write`.
         */
        post: operations["agent.addTeamMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/teams:removeMember": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove a person from a team
         * @description Removes a person from a team. The person stays in the workspace. The HTTP form of the MCP tool `remove_team_member`, with the scope `workspace:write`.
         */
        post: operations["agent.removeTeamMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/invites:list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List invites
         * @description The open invites, oldest first, expired ones included. The HTTP form of the MCP tool `list_invites`, with the scope `workspace:write`.
         */
        post: operations["agent.listInvites"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/invites:create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Invite a person
         * @description Invites a person by email, for seven days. Only invite people whom your person has named. Who accepts also joins the teams. The HTTP form of the MCP tool `create_invite`, with the scope `workspace:write`.
         */
        post: operations["agent.createInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/invites:resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an invite again
         * @description Sends an invite again, valid for seven days from now. Earlier links stop working. The HTTP form of the MCP tool `resend_invite`, with the scope `workspace:write`.
         */
        post: operations["agent.resendInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/invites:update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change the role of an invite
         * @description Changes the role that an open invite grants. The HTTP form of the MCP tool `update_invite`, with the scope `workspace:write`.
         */
        post: operations["agent.updateInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/v1/invites:revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke an invite
         * @description Revokes an invite. Its link stops working. The HTTP form of the MCP tool `revoke_invite`, with the scope `workspace:write`.
         */
        post: operations["agent.revokeInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the caller's active API keys
         * @description Newest first, without revoked and expired keys. `lastUsedAt` may be up to a minute behind. A key that is bound to workspaces gets only itself.
         */
        get: operations["apiKeys.list"];
        put?: never;
        /**
         * Create an API key
         * @description Only this response contains the secret. It cannot be read again.
         */
        post: operations["apiKeys.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/restricted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an API key with restrictions
         * @description As `apiKeys.create`, for a key that may do less than its owner from the start. A restricted key can create only keys that may do no more than it may.
         */
        post: operations["apiKeys.createRestricted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{apiKeyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an API key
         * @description A key that is bound to workspaces can read only itself.
         */
        get: operations["apiKeys.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{apiKeyId}/restrictions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the restrictions of an API key
         * @description A key that is bound to workspaces can read only its own.
         */
        get: operations["apiKeys.restrictions"];
        /**
         * Change the restrictions of an API key
         * @description Replaces all restrictions. Takes effect with the next request of the key. Its owner gets an email a week before a key expires. A restricted key can restrict only itself, and only further.
         */
        put: operations["apiKeys.restrict"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{apiKeyId}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an API key
         * @description Creates a key with the same name and the same restrictions, which expires when the old one would have. The old one works on for `overlapSeconds`, so that programs can change over. A key can rotate itself; send an `Idempotency-Key` and an overlap then, so that a lost response can be had again.
         */
        post: operations["apiKeys.rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{apiKeyId}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke an API key
         * @description Takes effect with the next request. A key can revoke itself, and a restricted key only itself. Revoking a revoked key succeeds. Returns 404 for a key of another person.
         */
        post: operations["apiKeys.revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the caller's profile
         * @description The caller is the owner of the API key.
         */
        get: operations["me.profile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the caller's name
         * @description Other members of their workspaces see the new name at once. Past events keep the old one.
         */
        patch: operations["me.updateProfile"];
        trace?: never;
    };
    "/v1/me/preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the caller's notification preferences
         * @description Which emails the caller has agreed to receive.
         */
        get: operations["me.preferences"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the caller's notification preferences
         * @description Both preferences are required.
         */
        patch: operations["me.updatePreferences"];
        trace?: never;
    };
    "/v1/me/home": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the path of the caller's home page
         * @description The path on the website of the workspace that the caller used last, or `/onboarding` for a caller without a workspace. For a key that is bound to workspaces, of these.
         */
        get: operations["me.home"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/onboarding": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the workspace that the caller already belongs to
         * @description The workspace used last, or null. For a key that is bound to workspaces, of these.
         */
        get: operations["me.onboarding"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/photo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload the caller's profile photo
         * @description A PNG, JPEG, WebP or GIF image of at most 5 MiB and 25 megapixels. It is cropped to a square.
         */
        post: operations["me.uploadPhoto"];
        /**
         * Remove the caller's profile photo
         * @description Removing it again succeeds. Its URL no longer returns a picture.
         */
        delete: operations["me.removePhoto"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete the caller's account
         * @description Signs the caller out everywhere, revokes their API keys and the access of their agents, and mails a link that cancels the deletion for 7 days. Then the account is deleted. Seeds, evidence, comments and events stay, without the name. The caller must allow it on the website (Security, Leaving) in the last ten minutes.
         */
        post: operations["me.delete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export everything that is the caller's
         * @description Their account, what gives access to it, and what they wrote and did, also in workspaces that they have left. Secrets and what belongs to others are left out. The caller must allow it on the website (Security, Leaving) in the last ten minutes. The response is read while it is sent: if that fails, it breaks off, and is no JSON.
         */
        get: operations["me.export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/invites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the invites to the caller's email address
         * @description Those that the caller can accept, newest first. None until the address is verified. For a key that is bound to workspaces, only those to these.
         */
        get: operations["me.listInvites"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/invites/{inviteId}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invite to the caller's email address
         * @description As `invites.accept`, by the id of the invite.
         */
        post: operations["me.acceptInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/invites/{inviteId}/decline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decline an invite to the caller's email address
         * @description As `invites.decline`, by the id of the invite.
         */
        post: operations["me.declineInvite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/offers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the workspaces that allow the domain of the caller's email address
         * @description Those that the caller can join without an invite, oldest first, also those that they have declined or left. None until the address is verified.
         */
        get: operations["me.listOffers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/offers/{workspaceId}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Join a workspace that allows the domain of the caller's email address
         * @description The caller becomes a member.
         */
        post: operations["me.acceptOffer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/offers/{workspaceId}/decline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decline a workspace that the caller can join
         * @description The website no longer asks. The caller can still join. Declining it again succeeds.
         */
        post: operations["me.declineOffer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the caller's notifications
         * @description Newest first: mentions; comments, evidence and changes of status of seeds that the caller follows; accepted invites; changes of their role; and the access of their agents that others ended, or that ends soon. Nobody is notified of what they did themselves. They are kept for 90 days, and end with the membership. Those about deleted seeds are left out. For a key that is bound to workspaces, of these.
         */
        get: operations["notifications.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/notifications/count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count the caller's unread notifications
         * @description Cheap enough to ask often. For a key that is bound to workspaces, of these.
         */
        get: operations["notifications.count"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/notifications/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mark notifications as read
         * @description Either `ids`, or `until` for all that happened until a time. Ids that are none of the caller's notifications change nothing. Idempotent. With a key that is bound to workspaces, only those of these workspaces.
         */
        post: operations["notifications.markRead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the caller's workspaces
         * @description The workspace used last comes first. A key that is bound to workspaces gets only those.
         */
        get: operations["workspaces.list"];
        put?: never;
        /**
         * Create a workspace
         * @description The caller becomes its owner. An installation may leave this to its operators.
         */
        post: operations["workspaces.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/slugs/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check whether a workspace slug is available
         * @description An invalid or reserved slug is not available.
         */
        get: operations["workspaces.slugAvailable"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a workspace
         * @description The last five former slugs of the workspace work for 90 days. The response to a former slug has the current path as `Content-Location`.
         */
        get: operations["workspaces.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a workspace
         * @description For owners and admins. The last five former slugs keep working for 90 days, and no other workspace can take them in that time.
         */
        patch: operations["workspaces.update"];
        trace?: never;
    };
    "/v1/workspaces/{slug}/transfer-ownership": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Transfer the ownership of a workspace
         * @description For owners. The member becomes an owner and the caller an admin, in one change. Other owners stay owners. Does nothing when the member is the caller.
         */
        post: operations["workspaces.transferOwnership"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete a workspace
         * @description For owners. The workspace is gone at once, for all people and agents. Nobody can take its slug for 90 days. For 14 days the operator of the service can restore it; then everything in it is erased. The owners are told by email.
         */
        post: operations["workspaces.delete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export a workspace
         * @description For owners. A line `{"kind": …, "data": {…}}` for each thing in the workspace, with fields as in other responses: `workspace`, `member`, `team`, `teamMember`, `invite`, `integration`, `webhook`, `seed` with its `participant`, `evidence` and `comment`, and `event`, the oldest first. Deleted seeds and secrets are left out. The last line has the kind `end` and the number of the others: without it the export is incomplete. What changes while the export runs is read as it is then. One export of a workspace runs at a time.
         */
        get: operations["workspaces.export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/icon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload the icon of a workspace
         * @description For owners and admins. A PNG, JPEG, WebP or GIF image of at most 5 MiB and 25 megapixels. It is cropped to a square.
         */
        post: operations["workspaces.uploadIcon"];
        /**
         * Remove the icon of a workspace
         * @description For owners and admins. Removing it again succeeds. Its URL no longer returns a picture.
         */
        delete: operations["workspaces.removeIcon"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/slug-availability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check whether a workspace could take a slug
         * @description Its own slugs, current and former, count as available. An invalid or reserved slug does not.
         */
        get: operations["workspaces.slugAvailability"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search a workspace
         * @description Finds seeds, evidence, comments, members and teams. Best first: the words in a title before those in a text, whole words before beginnings of words, and then the newest. Of a kind with more than 400 matches, only those with the words in their title and the newest are found. Withdrawn evidence and deleted seeds are not found.
         */
        get: operations["workspaces.search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/search/counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count what a search finds
         * @description By kind, for the same text as `workspaces.search`.
         */
        get: operations["workspaces.searchCounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the members of a workspace
         * @description In the order in which they joined.
         */
        get: operations["members.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/members/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a member, or leave a workspace
         * @description Everyone can leave with their own id. Owners and admins can remove others. The person also leaves the teams and seeds of the workspace, which then have no lead if the person led them, and their agents lose access to it. The last owner cannot leave.
         */
        delete: operations["members.remove"];
        options?: never;
        head?: never;
        /**
         * Change a member's role
         * @description For owners and admins. They can change people whose role is below their own, and themselves; owners can also change owners. The new role can be at most their own. The last owner must stay an owner.
         */
        patch: operations["members.updateRole"];
        trace?: never;
    };
    "/v1/workspaces/{slug}/invites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the open invites of a workspace
         * @description For owners and admins. Oldest first, including expired invites.
         */
        get: operations["invites.list"];
        put?: never;
        /**
         * Invite a person to a workspace
         * @description For owners and admins. The role can be at most their own. The invite is sent by email and is valid for seven days. The person joins its teams with the workspace, except those that are deleted by then; a member who accepts keeps their role and teams.
         */
        post: operations["invites.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/invites/{inviteId}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an invite again
         * @description Sends a new link, valid for seven days. Earlier links stop working.
         */
        post: operations["invites.resend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/invites/{inviteId}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke an invite
         * @description Revoking an invite that was revoked or declined succeeds, and changes nothing.
         */
        post: operations["invites.revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/invites/{inviteId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the role that an invite grants
         * @description For owners and admins. The role can be at most their own.
         */
        patch: operations["invites.updateRole"];
        trace?: never;
    };
    "/v1/invites/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an invite by its token
         * @description The token is the last part of the link.
         */
        get: operations["invites.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invites/{token}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invite
         * @description The caller becomes a member of the workspace, and of the teams of the invite.
         */
        post: operations["invites.accept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invites/{token}/decline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Decline an invite
         * @description It can no longer be accepted. Declining it again succeeds.
         */
        post: operations["invites.decline"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/teams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the teams of a workspace
         * @description Oldest first.
         */
        get: operations["teams.list"];
        put?: never;
        /**
         * Create a team
         * @description For owners and admins. Two teams of a workspace cannot have names that differ only in case.
         */
        post: operations["teams.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/teams/{teamId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a team
         * @description With the number of its members.
         */
        get: operations["teams.get"];
        put?: never;
        post?: never;
        /**
         * Delete a team
         * @description For owners and admins. Its members stay in the workspace.
         */
        delete: operations["teams.delete"];
        options?: never;
        head?: never;
        /**
         * Rename a team
         * @description For owners and admins.
         */
        patch: operations["teams.rename"];
        trace?: never;
    };
    "/v1/workspaces/{slug}/teams/{teamId}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the members of a team
         * @description In the order in which they were added.
         */
        get: operations["teams.listMembers"];
        put?: never;
        /**
         * Add a member of the workspace to a team
         * @description For owners and admins. Returns 404 for a person who is not in the workspace.
         */
        post: operations["teams.addMember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/teams/{teamId}/members/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a person from a team
         * @description Everyone can leave a team with their own id. Owners and admins can remove others.
         */
        delete: operations["teams.removeMember"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of a workspace
         * @description Newest first. Each change in the workspace creates one event. Members and viewers do not see events of invites that are not accepted, of webhooks, nor of other people's agents.
         */
        get: operations["events.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/events/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the events of a workspace
         * @description Oldest first, in the order in which they took effect, without gaps: who asks again with the `cursor` of the last response gets each event exactly once. Shows what `events.list` shows to the caller at this time. A page may have fewer events than `limit`, even none, while `hasMore` is true. After a backup was restored that is older than the cursor, returns 409 `cursor_unknown`: begin again without `after`. Works like `events.list` otherwise.
         */
        get: operations["events.changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream the events of a workspace
         * @description Server-sent events, for clients that are to know within about a second. Sends what `events.changes` returns: the events behind `Last-Event-ID` or `after`, and then each new one. `data` is an `Event` as JSON, `id` its cursor, which `events.changes` takes as well. There is no `event` field. The stream ends after an hour, when the process stops, when the key is revoked and when the caller is no longer a member: connect again with `Last-Event-ID`, as `EventSource` does.
         */
        get: operations["events.stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/events/{eventId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an event
         * @description Returns 404 for an event that `events.list` does not show to the caller.
         */
        get: operations["events.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the webhooks of a workspace
         * @description For owners and admins. Oldest first.
         */
        get: operations["webhooks.list"];
        put?: never;
        /**
         * Add a webhook
         * @description For owners and admins. The events of the workspace are sent to the URL, signed with the secret, at least once and in no promised order (Standard Webhooks 1.0). Only this response contains the secret.
         */
        post: operations["webhooks.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/webhooks/{webhookId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a webhook
         * @description For owners and admins. `lastDeliveryAt` may be ten seconds behind.
         */
        get: operations["webhooks.get"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description For owners and admins. Its deliveries are deleted too.
         */
        delete: operations["webhooks.delete"];
        options?: never;
        head?: never;
        /**
         * Change a webhook
         * @description For owners and admins. Fields that are absent stay as they are; an empty `description` removes it. While a webhook is disabled, nothing is sent: pending deliveries wait until it is active again, and new events make none.
         */
        patch: operations["webhooks.update"];
        trace?: never;
    };
    "/v1/workspaces/{slug}/webhooks/{webhookId}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret of a webhook
         * @description For owners and admins. During the overlap, requests are signed with both secrets. Only this response contains the new one.
         */
        post: operations["webhooks.rotateSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/webhooks/{webhookId}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test to a webhook
         * @description For owners and admins. Sends one request of the type `webhook.test`, also if the webhook is disabled, and waits up to 15 seconds for the answer.
         */
        post: operations["webhooks.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/webhooks/{webhookId}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook
         * @description For owners and admins. Newest first. Deliveries are kept for 30 days.
         */
        get: operations["webhooks.listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description For owners and admins. The delivery becomes pending, with ten attempts from now on. `webhook-id` stays the same.
         */
        post: operations["webhooks.redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/webhooks/{webhookId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send all events of a time again
         * @description For owners and admins. Sends the events of the types of the webhook since a time: those that were delivered, those that failed, and those of a time in which it was disabled. At most 10,000.
         */
        post: operations["webhooks.redeliverSince"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/people": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List or search the people of a workspace
         * @description Members with their teams, then invited people. Only owners and admins see invited people.
         */
        get: operations["people.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/seeds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List or search the seeds of a workspace
         * @description Newest first, or the latest change first. A seed is listed if it matches all filters.
         */
        get: operations["seeds.list"];
        put?: never;
        /**
         * Create a seed
         * @description For members and above. The seed is open; its creator takes part in it, leads and follows it. An empty `problem`, `audience` or `hypothesis` counts as absent.
         */
        post: operations["seeds.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/seeds/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a seed
         * @description For all members of its workspace.
         */
        get: operations["seeds.get"];
        put?: never;
        post?: never;
        /**
         * Delete a seed
         * @description For owners and admins, and for its creator while nobody else has joined it or added evidence or comments. Nobody sees the seed then. It can be restored for 14 days, and is then erased.
         */
        delete: operations["seeds.delete"];
        options?: never;
        head?: never;
        /**
         * Change a seed
         * @description For members and above. Absent fields stay unchanged. An empty `problem`, `audience` or `hypothesis` is cleared. Any status may follow any other. The lead must have joined the seed, and cannot be a viewer; the seed has none once that person leaves it or the workspace, or becomes a viewer.
         */
        patch: operations["seeds.update"];
        trace?: never;
    };
    "/v1/seeds/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a deleted seed
         * @description For those who may delete it, for 14 days. `seeds.list` with `deleted` lists them. Restoring again succeeds.
         */
        post: operations["seeds.restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/seeds/{id}/follow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Follow a seed
         * @description For all members of its workspace. The caller is notified of comments, evidence and changes of its status. Who creates or joins a seed follows it. Following again succeeds.
         */
        post: operations["seeds.follow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/seeds/{id}/unfollow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unfollow a seed
         * @description For all members of its workspace. It succeeds again.
         */
        post: operations["seeds.unfollow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/seeds/{id}/join": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Join a seed
         * @description For members and above. The caller also follows it. Joining again succeeds, even when the seed is validated or dropped.
         */
        post: operations["seeds.join"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/seeds/{id}/leave": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Leave a seed
         * @description For members and above. The caller no longer leads and follows it. Leaving again succeeds. The caller's evidence stays.
         */
        post: operations["seeds.leave"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/seeds/{id}/participants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the participants of a seed
         * @description In the order in which they joined.
         */
        get: operations["seeds.listParticipants"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/seeds/{id}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the evidence of a seed
         * @description Newest first, without what was withdrawn.
         */
        get: operations["seeds.listEvidence"];
        put?: never;
        /**
         * Add evidence to a seed
         * @description For people who have joined the seed, whatever its status.
         */
        post: operations["seeds.addEvidence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/evidence/{evidenceId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Correct evidence
         * @description For its author, in the 15 minutes after it was added, unless it was withdrawn. Absent fields stay unchanged. An empty `sourceUrl` is cleared.
         */
        patch: operations["evidence.update"];
        trace?: never;
    };
    "/v1/evidence/{evidenceId}/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Withdraw evidence
         * @description For its author at any time, and for owners and admins. Withdrawn evidence no longer counts: lists, counts and validation kits leave it out, and `seeds.listEvidence` lists it with `includeWithdrawn`. It cannot be undone. Withdrawing again succeeds, and keeps the first reason. The body is optional.
         */
        post: operations["evidence.withdraw"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/seeds/{id}/comments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the comments on a seed
         * @description Oldest first, with those on its evidence. For all members of its workspace.
         */
        get: operations["comments.list"];
        put?: never;
        /**
         * Comment on a seed or its evidence
         * @description For members and above. The author and the mentioned people follow the seed from then on. Mentioned people and followers are notified.
         */
        post: operations["comments.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/comments/{commentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a comment
         * @description For its author, owners and admins. It cannot be restored.
         */
        delete: operations["comments.delete"];
        options?: never;
        head?: never;
        /**
         * Edit a comment
         * @description For its author. People whom it did not mention before are notified.
         */
        patch: operations["comments.update"];
        trace?: never;
    };
    "/v1/workspaces/{slug}/integrations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the agents that have access to a workspace
         * @description Newest first, without revoked and expired access. Owners and admins see all agents; other members see the agents that act on their behalf.
         */
        get: operations["integrations.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/integrations/{id}/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what an agent did
         * @description The calls of its tools, newest first, without their arguments: of the last 30 days, and about the last 1,000. Owners and admins see the calls of any agent; other members, of agents that act on their behalf. Also of access that has ended.
         */
        get: operations["integrations.listCalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{slug}/integrations/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke an agent's access
         * @description Takes effect with the agent's next request. Owners and admins can revoke the access of any agent; other members, of agents that act on their behalf. Revoking revoked access succeeds.
         */
        post: operations["integrations.revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    event: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive an event of the workspace
         * @description Sent to the URL of a webhook, signed as Standard Webhooks 1.0 has it, at least once and in no promised order. A test has the type `webhook.test`, other `data` and null as `cursor`.
         */
        post: operations["webhooks.receive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        Ok: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
        };
        /**
         * @description What a person may do in a workspace, most powerful first.
         * @enum {string}
         */
        Role: "owner" | "admin" | "member" | "viewer";
        /**
         * @example {
         *       "_tag": "HttpApiDecodeError",
         *       "code": "decode_error",
         *       "message": "The request does not match the expected schema.",
         *       "issues": [
         *         {
         *           "_tag": "Missing",
         *           "path": [
         *             "name"
         *           ],
         *           "message": "is required"
         *         }
         *       ],
         *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
         *     }
         */
        HttpApiDecodeError: {
            /**
             * @description The name of the schema.
             * @constant
             */
            _tag: "HttpApiDecodeError";
            /**
             * @description The error code: stable, and for programs. The error catalogue lists all codes.
             * @constant
             */
            code: "decode_error";
            /** @description The error in words, for people. It may change. */
            message: string;
            /** @description Each problem of the request. */
            issues: {
                /**
                 * @description A required field is missing, a field is not known, a value has the wrong type or is not one of those allowed (`Type`), or it breaks another rule (`Refinement`).
                 * @enum {string}
                 */
                _tag: "Missing" | "Unexpected" | "Type" | "Refinement";
                /** @description Where it is: the names of fields and the indexes of lists, from the outside in. */
                path: (string | number)[];
                /** @description What is wrong, in words, for people. It may change. */
                message: string;
            }[];
            /** @description The id of the request, as in the header X-Request-Id. */
            requestId: string;
        };
        /**
         * @example {
         *       "_tag": "InvalidInput",
         *       "code": "slug_reserved",
         *       "message": "This workspace address is reserved.",
         *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f",
         *       "field": "slug"
         *     }
         */
        InvalidInput: {
            /**
             * @description The name of the schema.
             * @constant
             */
            _tag: "InvalidInput";
            /** @description The error code: stable, and for programs. The error catalogue lists all codes. */
            code: string;
            /** @description The error in words, for people. It may change. */
            message: string;
            /** @description The invalid field, if the error is about a field. */
            field: string | null;
            /** @description The id of the request, as in the header X-Request-Id. */
            requestId: string;
        };
        /**
         * @example {
         *       "_tag": "Unauthorized",
         *       "code": "api_key_required",
         *       "message": "A valid API key is required.",
         *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
         *     }
         */
        Unauthorized: {
            /**
             * @description The name of the schema.
             * @constant
             */
            _tag: "Unauthorized";
            /** @description The error code: stable, and for programs. The error catalogue lists all codes. */
            code: string;
            /** @description The error in words, for people. It may change. */
            message: string;
            /** @description The id of the request, as in the header X-Request-Id. */
            requestId: string;
        };
        /**
         * @example {
         *       "_tag": "Forbidden",
         *       "code": "role_insufficient",
         *       "message": "Your role in this workspace does not allow this.",
         *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
         *     }
         */
        Forbidden: {
            /**
             * @description The name of the schema.
             * @constant
             */
            _tag: "Forbidden";
            /** @description The error code: stable, and for programs. The error catalogue lists all codes. */
            code: string;
            /** @description The error in words, for people. It may change. */
            message: string;
            /** @description The id of the request, as in the header X-Request-Id. */
            requestId: string;
        };
        /**
         * @example {
         *       "_tag": "NotFound",
         *       "code": "not_found",
         *       "message": "Not found.",
         *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
         *     }
         */
        NotFound: {
            /**
             * @description The name of the schema.
             * @constant
             */
            _tag: "NotFound";
            /** @description The error code: stable, and for programs. The error catalogue lists all codes. */
            code: string;
            /** @description The error in words, for people. It may change. */
            message: string;
            /** @description The id of the request, as in the header X-Request-Id. */
            requestId: string;
        };
        /**
         * @example {
         *       "_tag": "Conflict",
         *       "code": "slug_taken",
         *       "message": "This address is not available: another workspace uses it, or used it recently.",
         *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
         *     }
         */
        Conflict: {
            /**
             * @description The name of the schema.
             * @constant
             */
            _tag: "Conflict";
            /** @description The error code: stable, and for programs. The error catalogue lists all codes. */
            code: string;
            /** @description The error in words, for people. It may change. */
            message: string;
            /** @description The id of the request, as in the header X-Request-Id. */
            requestId: string;
        };
        /**
         * @example {
         *       "_tag": "PreconditionFailed",
         *       "code": "precondition_failed",
         *       "message": "This was changed since you read it. Read it again, then repeat your change.",
         *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
         *     }
         */
        PreconditionFailed: {
            /**
             * @description The name of the schema.
             * @constant
             */
            _tag: "PreconditionFailed";
            /**
             * @description The error code: stable, and for programs. The error catalogue lists all codes.
             * @constant
             */
            code: "precondition_failed";
            /** @description The error in words, for people. It may change. */
            message: string;
            /** @description The id of the request, as in the header X-Request-Id. */
            requestId: string;
        };
        /**
         * @example {
         *       "_tag": "PayloadTooLarge",
         *       "code": "body_too_large",
         *       "message": "The request is too large. A picture may have up to 5 MB, a JSON body up to 64 KiB.",
         *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
         *     }
         */
        PayloadTooLarge: {
            /**
             * @description The name of the schema.
             * @constant
             */
            _tag: "PayloadTooLarge";
            /** @description The error code: stable, and for programs. The error catalogue lists all codes. */
            code: string;
            /** @description The error in words, for people. It may change. */
            message: string;
            /** @description The id of the request, as in the header X-Request-Id. */
            requestId: string;
        };
        /**
         * @example {
         *       "_tag": "UnsupportedMediaType",
         *       "code": "unsupported_media_type",
         *       "message": "The request body has a content type, charset or content coding that this operation does not support.",
         *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
         *     }
         */
        UnsupportedMediaType: {
            /**
             * @description The name of the schema.
             * @constant
             */
            _tag: "UnsupportedMediaType";
            /**
             * @description The error code: stable, and for programs. The error catalogue lists all codes.
             * @constant
             */
            code: "unsupported_media_type";
            /** @description The error in words, for people. It may change. */
            message: string;
            /** @description The id of the request, as in the header X-Request-Id. */
            requestId: string;
        };
        /**
         * @example {
         *       "_tag": "TooManyRequests",
         *       "code": "rate_limited",
         *       "message": "Too many requests with this key. Try again later.",
         *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
         *     }
         */
        TooManyRequests: {
            /**
             * @description The name of the schema.
             * @constant
             */
            _tag: "TooManyRequests";
            /** @description The error code: stable, and for programs. The error catalogue lists all codes. */
            code: string;
            /** @description The error in words, for people. It may change. */
            message: string;
            /** @description The id of the request, as in the header X-Request-Id. */
            requestId: string;
        };
        /**
         * @example {
         *       "_tag": "Internal",
         *       "code": "internal",
         *       "message": "The service failed. Contact its operator with the request id.",
         *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
         *     }
         */
        Internal: {
            /**
             * @description The name of the schema.
             * @constant
             */
            _tag: "Internal";
            /**
             * @description The error code: stable, and for programs. The error catalogue lists all codes.
             * @constant
             */
            code: "internal";
            /** @description The error in words, for people. It may change. */
            message: string;
            /** @description The id of the request, as in the header X-Request-Id. */
            requestId: string;
        };
        /**
         * @example {
         *       "_tag": "ServiceUnavailable",
         *       "code": "database_unavailable",
         *       "message": "The database is not available. Try again later.",
         *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
         *     }
         */
        ServiceUnavailable: {
            /**
             * @description The name of the schema.
             * @constant
             */
            _tag: "ServiceUnavailable";
            /** @description The error code: stable, and for programs. The error catalogue lists all codes. */
            code: string;
            /** @description The error in words, for people. It may change. */
            message: string;
            /** @description The id of the request, as in the header X-Request-Id. */
            requestId: string;
        };
        Health: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            /**
             * @description The name of the service.
             * @constant
             */
            service: "api";
        };
        Readiness: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
        };
        ApiKey: {
            /** @description The id of the key. */
            id: string;
            /** @description The name of the key. */
            name: string;
            /** @description The first characters of the key. */
            tokenPrefix: string;
            /** @description The last four characters of the key. */
            lastFour: string;
            /**
             * Format: date-time
             * @description When the key was created.
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the key was last used. Null: never.
             * @example 2026-11-21T03:04:05.678Z
             */
            lastUsedAt: string | null;
        };
        CreatedApiKey: {
            /** @description The id of the key. */
            id: string;
            /** @description The name of the key. */
            name: string;
            /** @description The first characters of the key. */
            tokenPrefix: string;
            /** @description The last four characters of the key. */
            lastFour: string;
            /** @description The API key itself. It is returned only here. */
            secret: string;
        };
        ApiKeyRestrictions: {
            /**
             * Format: date-time
             * @description When the key stops working. Null: never.
             */
            expiresAt: string | null;
            /**
             * @description `full`: everything that the owner of the key may do. `read`: only requests by GET and HEAD, which change nothing.
             * @enum {string}
             */
            access: "full" | "read";
            /** @description The ids of the only workspaces that the key reaches, as far as its owner is a member of them. Null: all of the owner. */
            workspaceIds: string[] | null;
        };
        Profile: {
            /** @description The id of the caller. */
            id: string;
            /** @description The name of the caller. */
            name: string;
            /** @description The email address of the caller. */
            email: string;
            /** @description The URL of the profile photo. */
            image: string | null;
        };
        Preferences: {
            /** @description The id of the caller. */
            userId: string;
            /** @description Whether to send news about the product by email. */
            productUpdates: boolean;
            /** @description Whether to send mentions, a daily digest of other notifications, changes of role and accepted invites by email. */
            workspaceActivity: boolean;
        };
        PhotoUpload: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            /** @description The URL of the new profile photo. */
            image: string;
        };
        Onboarding: {
            /** @description The workspace that the caller used last; null without a workspace. */
            existing: components["schemas"]["WorkspaceMembership"] | null;
        };
        PersonExport: {
            /** @description Their account. */
            profile: {
                /** @description The id of the person. */
                id: string;
                /** @description Their name. */
                name: string;
                /** @description Their email address. */
                email: string;
                /**
                 * Format: date-time
                 * @description When the address was verified. Null: it is not.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                emailVerifiedAt: string | null;
                /** @description The URL of the profile photo. Null: they have none. */
                image: string | null;
                /** @description Whether they get news about the product. */
                productUpdates: boolean;
                /** @description Whether they get mails about their workspaces. */
                workspaceActivity: boolean;
                /**
                 * Format: date-time
                 * @description When it was created.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                createdAt: string;
            };
            /** @description The addresses that they had before. */
            formerEmails: {
                /** @description The address. */
                email: string;
                /**
                 * Format: date-time
                 * @description Until when they had it.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                changedAt: string;
            }[];
            /** @description Their API keys, also revoked ones, without the secrets. */
            apiKeys: {
                /** @description The id of the key. */
                id: string;
                /** @description Its name. */
                name: string;
                /** @description Its first characters. */
                tokenPrefix: string;
                /** @description Its last four characters. */
                lastFour: string;
                /** @description Whether it may change something, or only read. */
                access: string;
                /** @description The workspaces that it works in. Null: all. */
                workspaceIds: string[] | null;
                /**
                 * Format: date-time
                 * @description When it ends. Null: it does not.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                expiresAt: string | null;
                /**
                 * Format: date-time
                 * @description When another key took its place. Null: none did.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                rotatedAt: string | null;
                /**
                 * Format: date-time
                 * @description When it was created.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description When it was last used. Null: never.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                lastUsedAt: string | null;
                /**
                 * Format: date-time
                 * @description When it was revoked. Null: it was not.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                revokedAt: string | null;
            }[];
            /** @description Where they are signed in. */
            sessions: {
                /** @description The `User-Agent` of the browser. */
                userAgent: string;
                /**
                 * Format: date-time
                 * @description When it was created.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description When it was last used.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                lastUsedAt: string;
            }[];
            /** @description Their passkeys. */
            passkeys: {
                /** @description Its name. */
                name: string;
                /**
                 * Format: date-time
                 * @description When it was created.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description When it was last used. Null: never.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                lastUsedAt: string | null;
            }[];
            /** @description Their accounts at identity providers. */
            identities: {
                /** @description The provider. */
                issuer: string;
                /** @description Their id there. */
                subject: string;
                /**
                 * Format: date-time
                 * @description When it was created.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description When they unlinked it. Null: they did not.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                unlinkedAt: string | null;
            }[];
            /** @description The workspaces that they are in. */
            workspaces: {
                /** @description The id of the workspace. */
                id: string;
                /** @description Its name. */
                name: string;
                /** @description Its slug. */
                slug: string;
                role: components["schemas"]["Role"];
                /**
                 * Format: date-time
                 * @description When they joined.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                joinedAt: string;
            }[];
            /** @description The teams that they are in. */
            teams: {
                /** @description The id of the team. */
                id: string;
                /** @description The id of the workspace. */
                workspaceId: string;
                /** @description Its name. */
                name: string;
                /**
                 * Format: date-time
                 * @description When they were added.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                addedAt: string;
            }[];
            /** @description The access of their agents, also what has ended. */
            agents: {
                /** @description The id of the grant. */
                id: string;
                /** @description The id of the workspace. */
                workspaceId: string;
                /** @description The id of the agent as a client of OAuth. */
                clientId: string;
                /** @description The name of the agent. */
                clientName: string;
                /** @description The website of the agent. Null: it has named none. */
                clientUri: string | null;
                /** @description What the agent may do, as OAuth scopes. */
                scopes: string[];
                /**
                 * Format: date-time
                 * @description When it was created.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description When the agent last used it. Null: never.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                lastUsedAt: string | null;
                /**
                 * Format: date-time
                 * @description When it ends.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                expiresAt: string;
                /**
                 * Format: date-time
                 * @description When it was revoked. Null: it was not.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                revokedAt: string | null;
            }[];
            /** @description The invites from and to them. */
            invites: {
                /** @description The id of the invite. */
                id: string;
                /** @description The id of the workspace. */
                workspaceId: string;
                /** @description The invited address. */
                email: string;
                role: components["schemas"]["Role"];
                /**
                 * Format: date-time
                 * @description When it was created.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                createdAt: string;
            }[];
            /** @description The seeds that they created. */
            seeds: {
                /** @description The id of the seed. */
                id: string;
                /** @description The id of the workspace. */
                workspaceId: string;
                /** @description Its title. */
                title: string;
                /** @description Its summary. */
                summary: string;
                /** @description The problem that it solves. */
                problem: string | null;
                /** @description Who has the problem. */
                audience: string | null;
                /** @description What is expected to be true. */
                hypothesis: string | null;
                /** @description How to tell that it is. */
                successCriteria: string[];
                /** @description Its status. */
                status: string;
                /**
                 * Format: date-time
                 * @description When it was created.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                createdAt: string;
            }[];
            /** @description The evidence that they added. */
            evidence: {
                /** @description The id of the evidence. */
                id: string;
                /** @description The id of the seed. */
                seedId: string;
                /** @description Its kind. */
                kind: string;
                /** @description Whether it supports or contradicts the seed. */
                verdict: string;
                /** @description What was found. */
                summary: string;
                /** @description Where to read more. */
                sourceUrl: string | null;
                /** @description The agent that wrote it for the person. Null: they did. */
                agentName: string | null;
                /**
                 * Format: date-time
                 * @description When it was created.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description When it was corrected. Null: it was not.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                editedAt: string | null;
                /**
                 * Format: date-time
                 * @description When it was withdrawn. Null: it was not.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                withdrawnAt: string | null;
            }[];
            /** @description The comments that they wrote. */
            comments: {
                /** @description The id of the comment. */
                id: string;
                /** @description The id of the seed. */
                seedId: string;
                /** @description The evidence that it is about. Null: the seed itself. */
                evidenceId: string | null;
                /** @description Its text, in Markdown. */
                body: string;
                /** @description The agent that wrote it for the person. Null: they did. */
                agentName: string | null;
                /**
                 * Format: date-time
                 * @description When it was created.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description When it was edited. Null: it was not.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                editedAt: string | null;
            }[];
            /** @description The seeds that they take part in. */
            participations: {
                /** @description The id of the seed. */
                seedId: string;
                /**
                 * Format: date-time
                 * @description When they joined it.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                joinedAt: string;
            }[];
            /** @description The seeds that they follow. */
            follows: {
                /** @description The id of the seed. */
                seedId: string;
            }[];
            /** @description What they were told in their inbox. */
            notifications: {
                /** @description The id of the notification. */
                id: string;
                /** @description The id of the workspace. */
                workspaceId: string;
                /** @description Its kind. */
                kind: string;
                /** @description The seed that it is about. Null: none. */
                seedId: string | null;
                /**
                 * Format: date-time
                 * @description When it was created.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description When they read it. Null: they have not.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                readAt: string | null;
            }[];
            /** @description What they did in workspaces. */
            events: {
                /** @description The id of the event. */
                id: string;
                /** @description The id of the workspace. */
                workspaceId: string;
                /** @description Its type. */
                type: string;
                /** @description Whether it was done on the website, by API or over MCP. */
                source: string;
                /** @description What happened. */
                summary: string;
                /**
                 * Format: date-time
                 * @description When it was created.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                createdAt: string;
            }[];
        };
        WorkspaceMembership: {
            /** @description The id of the workspace. */
            id: string;
            /** @description The name of the workspace. */
            name: string;
            /** @description The current slug of the workspace. */
            slug: string;
            /** @description The URL of the icon. */
            iconUrl: string | null;
            role: components["schemas"]["Role"];
        };
        WorkspaceDetail: {
            /** @description The id of the caller. */
            userId: string;
            /** @description The id of the workspace. */
            workspaceId: string;
            /** @description The name of the workspace. */
            name: string;
            /** @description The current slug of the workspace. */
            slug: string;
            /** @description The URL of the icon. */
            iconUrl: string | null;
            /** @description People with a verified email address at one of these domains can join the workspace. */
            allowedDomains: string[];
            role: components["schemas"]["Role"];
        };
        /**
         * @description A new workspace.
         * @example {
         *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09",
         *       "name": "Acme",
         *       "slug": "acme",
         *       "creatorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08"
         *     }
         */
        CreatedWorkspace: {
            /** @description The id of the workspace. */
            id: string;
            /** @description The name of the workspace. */
            name: string;
            /** @description The slug of the workspace. */
            slug: string;
            /** @description The id of the caller, who is its owner. */
            creatorUserId: string;
        };
        WorkspaceCreation: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            workspace: components["schemas"]["CreatedWorkspace"];
        };
        SlugAvailability: {
            /** @description Whether the slug can be taken now. Asking does not reserve it. */
            available: boolean;
        };
        IconUpload: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            /** @description The URL of the new icon. */
            iconUrl: string;
        };
        SearchResult: {
            /**
             * @description What was found.
             * @enum {string}
             */
            kind: "seed" | "evidence" | "comment" | "person" | "team";
            /** @description The id of what was found; of a member, that of the person. */
            id: string;
            /** @description The title of the seed, also that of evidence and of a comment; the name of the person or the team. */
            title: string;
            /** @description A part of the text that was found; of a person, the email address. Null for a team. */
            excerpt: string | null;
            /** @description The id of the seed; null for people and teams. */
            seedId: string | null;
            /** @description The path on the website. */
            path: string;
        };
        SearchCounts: {
            /** @description The number of seeds. 1000 stands for 1000 or more. */
            seeds: number;
            /** @description The number of pieces of evidence. 1000 stands for 1000 or more. */
            evidence: number;
            /** @description The number of comments. 1000 stands for 1000 or more. */
            comments: number;
            /** @description The number of members. 1000 stands for 1000 or more. */
            people: number;
            /** @description The number of teams. 1000 stands for 1000 or more. */
            teams: number;
        };
        Member: {
            /** @description The id of the person. */
            userId: string;
            /** @description The name of the person. */
            name: string;
            /** @description The email address of the person. */
            email: string;
            /** @description The URL of the profile photo. */
            image: string | null;
            role: components["schemas"]["Role"];
            /**
             * Format: date-time
             * @description When the person joined the workspace.
             * @example 2026-11-21T03:04:05.678Z
             */
            joinedAt: string;
        };
        WorkspaceOffer: {
            /** @description The id of the workspace. */
            workspaceId: string;
            /** @description The name of the workspace. */
            workspaceName: string;
            /** @description The current slug of the workspace. */
            workspaceSlug: string;
            /** @description The URL of the icon of the workspace. Null: it has none. */
            workspaceIconUrl: string | null;
            /** @description How many members the workspace has. */
            memberCount: number;
        };
        /** @description An invite to a workspace that is still open. */
        Invite: {
            /** @description The id of the invite. */
            id: string;
            /** @description The email address that the invite is for. */
            email: string;
            role: components["schemas"]["Role"];
            /**
             * @description `pending`: it can be accepted. `expired`: it can be sent again.
             * @enum {string}
             */
            status: "pending" | "expired";
            /** @description The id of the person who created the invite. */
            invitedByUserId: string;
            /** @description The name of that person. */
            invitedByName: string;
            /**
             * Format: date-time
             * @description When the invite was created.
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the invite stops working.
             * @example 2026-11-21T03:04:05.678Z
             */
            expiresAt: string;
            /**
             * Format: date-time
             * @description When it was last sent by email. Null: not yet.
             * @example 2026-11-21T03:04:05.678Z
             */
            lastSentAt: string | null;
        };
        InviteCreation: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            invite: components["schemas"]["Invite"];
            /** @description The link to the invite. It is sent by email and returned only here. */
            inviteUrl: string;
        };
        InviteResending: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            /** @description The new link. It is sent by email too and returned only here. */
            inviteUrl: string;
            /**
             * Format: date-time
             * @description When the new link stops working.
             * @example 2026-11-21T03:04:05.678Z
             */
            expiresAt: string;
        };
        InvitePreview: {
            /** @description The name of the workspace. */
            workspaceName: string;
            /** @description The current slug of the workspace. */
            workspaceSlug: string;
            /** @description The URL of the icon of the workspace. Null: it has none. */
            workspaceIconUrl: string | null;
            /** @description The email address that the invite is for. */
            email: string;
            role: components["schemas"]["Role"];
            /**
             * @description Only a `pending` invite can be accepted.
             * @enum {string}
             */
            status: "pending" | "expired" | "accepted" | "declined" | "revoked";
            /** @description The name of the person who created the invite. */
            invitedByName: string;
            /**
             * Format: date-time
             * @description When the invite stops working.
             * @example 2026-11-21T03:04:05.678Z
             */
            expiresAt: string;
            /** @description Whether the invite is for the caller's email address. */
            emailMatches: boolean;
        };
        InviteAcceptance: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            /** @description The id of the workspace. */
            workspaceId: string;
            /** @description The current slug of the workspace. */
            slug: string;
            role: components["schemas"]["Role"];
        };
        /** @description An invite that the caller can accept. */
        OwnInvite: {
            /** @description The id of the invite. */
            id: string;
            /** @description The name of the workspace. */
            workspaceName: string;
            /** @description The current slug of the workspace. */
            workspaceSlug: string;
            /** @description The URL of the icon of the workspace. Null: it has none. */
            workspaceIconUrl: string | null;
            role: components["schemas"]["Role"];
            /** @description The name of the person who created the invite. */
            invitedByName: string;
            /**
             * Format: date-time
             * @description When the invite stops working.
             * @example 2026-11-21T03:04:05.678Z
             */
            expiresAt: string;
        };
        /** @description A team of a workspace. */
        Team: {
            /** @description The id of the team. */
            id: string;
            /** @description The name of the team. */
            name: string;
            /** @description The number of its members. */
            memberCount: number;
            /**
             * Format: date-time
             * @description When the team was created.
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
        };
        TeamMember: {
            /** @description The id of the person. */
            userId: string;
            /** @description The name of the person. */
            name: string;
            /** @description The URL of the profile photo. */
            image: string | null;
            /**
             * Format: date-time
             * @description When the person was added to the team.
             * @example 2026-11-21T03:04:05.678Z
             */
            addedAt: string;
        };
        TeamCreation: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            team: components["schemas"]["Team"];
        };
        Event: {
            /** @description The id of the event. */
            id: string;
            /** @description What happened, such as `member.role_changed`. */
            type: string;
            /**
             * @description Who acted: a person (`user`), an agent on behalf of a person, or the service or its operator (`system`).
             * @enum {string}
             */
            actorType: "user" | "agent" | "system";
            /** @description The person who acted, or on whose behalf an agent acted. */
            actorUserId: string | null;
            /** @description The name of that person at the time. */
            actorName: string;
            /** @description The grant of the agent that acted. */
            grantId: string | null;
            /** @description The API key that was used. */
            apiKeyId: string | null;
            /**
             * @description How it was done: on the website, through the API, by an agent, or on the server: by the service itself or by a command of its operator.
             * @enum {string}
             */
            source: "web" | "api" | "mcp" | "system";
            /** @description The kind of what the event is about, such as `seed`. Null if there is none. */
            targetType: string | null;
            /** @description The id of what the event is about. Null if there is none. */
            targetId: string | null;
            /** @description What happened, in words, made from `data`. */
            summary: string;
            data: components["schemas"]["EventData"];
            /**
             * Format: date-time
             * @description When it happened.
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
        };
        /** @description What happened, for programs: ids, names as they were, and values. The fields depend on the `type` and may become more. Empty for events from before there was `data`. */
        EventData: {
            [key: string]: unknown;
        };
        EventChanges: {
            /** @description The events of this page, oldest first. */
            events: components["schemas"]["Event"][];
            /** @description Where the next page begins: the `after` of the next request. It never expires. */
            cursor: string;
            /** @description Whether there are further events already. If not, ask again later. */
            hasMore: boolean;
        };
        /** @description A webhook of a workspace. */
        Webhook: {
            /** @description The id of the webhook. */
            id: string;
            /** @description The URL that events are sent to. */
            url: string;
            /** @description What the webhook is for, in words. Null: it has no description. */
            description: string | null;
            /** @description The types of events that it gets; empty: all. */
            types: string[];
            /**
             * @description `disabled`: nothing is sent, and `disabledReason` says why.
             * @enum {string}
             */
            status: "active" | "disabled";
            /** @description Why it is disabled: by a person (`manual`), because its receiver answered 410 (`gone`), or because nothing could be delivered for three days (`failing`). */
            disabledReason: ("manual" | "gone" | "failing") | null;
            /**
             * Format: date-time
             * @description When the webhook was added.
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When an event was last delivered. Null: never.
             * @example 2026-11-21T03:04:05.678Z
             */
            lastDeliveryAt: string | null;
            /**
             * Format: date-time
             * @description When an attempt last failed. Null: never.
             * @example 2026-11-21T03:04:05.678Z
             */
            lastFailureAt: string | null;
        };
        WebhookCreation: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            webhook: components["schemas"]["Webhook"];
            /** @description The secret that signs requests (Standard Webhooks). It is returned only here. */
            secret: string;
        };
        WebhookRotation: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            /** @description The secret that signs requests (Standard Webhooks). It is returned only here. */
            secret: string;
        };
        WebhookTest: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            /** @description Whether the receiver answered 2xx. */
            delivered: boolean;
            /** @description The status of the last answer. */
            status: number | null;
            /** @description Why the last attempt failed: no connection (`refused`), no answer within 15 seconds, no valid certificate, an answer other than 2xx, or a secret that the service cannot read any more. */
            error: ("refused" | "timeout" | "tls" | "status" | "secret_unreadable") | null;
        };
        WebhookDelivery: {
            /** @description The header `webhook-id` of all its attempts. */
            id: string;
            /** @description The id of the event. */
            eventId: string;
            /** @description The type of the event. */
            type: string;
            /**
             * @description `pending`: an attempt is due. `delivered`: the receiver answered 2xx. `failed`: there are no more attempts.
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
            /** @description The attempts so far. */
            attempts: number;
            /** @description The status of the last answer. */
            lastStatus: number | null;
            /** @description Why the last attempt failed: no connection (`refused`), no answer within 15 seconds, no valid certificate, an answer other than 2xx, or a secret that the service cannot read any more. */
            lastError: ("refused" | "timeout" | "tls" | "status" | "secret_unreadable") | null;
            /**
             * Format: date-time
             * @description When the next attempt is due. Null unless the delivery is pending.
             * @example 2026-11-21T03:04:05.678Z
             */
            nextAttemptAt: string | null;
            /**
             * Format: date-time
             * @description When the event happened.
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the receiver answered 2xx. Null: not yet.
             * @example 2026-11-21T03:04:05.678Z
             */
            deliveredAt: string | null;
        };
        WebhookRedelivery: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            /** @description The number of events. */
            deliveries: number;
        };
        Notification: {
            /** @description The id of the notification. */
            id: string;
            /**
             * @description What it is about.
             * @enum {string}
             */
            kind: "mention" | "comment" | "evidence" | "status" | "invite_accepted" | "role_changed" | "agent";
            /** @description The slug of the workspace that it is from. */
            workspaceSlug: string;
            /** @description The name of that workspace. */
            workspaceName: string;
            /** @description The id of the seed; null if it is about none. */
            seedId: string | null;
            /** @description The title of the seed; null if it is about none. */
            seedTitle: string | null;
            /** @description The name of who did it, at the time; of the service, if nobody did. */
            actorName: string;
            /** @description The agent that did it for that person; null if no agent did. */
            agentName: string | null;
            /** @description What happened, as a sentence. It quotes no comment. */
            text: string;
            /** @description The path on the website of what it is about. */
            path: string;
            /**
             * Format: date-time
             * @description When it happened.
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the caller read it; null if they have not.
             * @example 2026-11-21T03:04:05.678Z
             */
            readAt: string | null;
        };
        NotificationCount: {
            /** @description The number of unread notifications. 100 stands for 100 or more. */
            unread: number;
        };
        Person: {
            /** @description The id of the member, or of the invite. */
            id: string;
            /**
             * @description Whether the person is in the workspace (`member`) or has an open invite.
             * @enum {string}
             */
            kind: "member" | "invited";
            /** @description Null for a person who is only invited. */
            userId: string | null;
            /** @description The name of the person. For an invited person, the email address. */
            name: string;
            /** @description The email address of the person. */
            email: string;
            /** @description The URL of the profile photo. */
            image: string | null;
            role: components["schemas"]["Role"];
            /** @description The teams that the person is in, oldest first. */
            teams: {
                /** @description The id of the team. */
                id: string;
                /** @description The name of the team. */
                name: string;
            }[];
        };
        /** @description A seed: an early idea that people of a workspace test. */
        Seed: {
            /** @description The id of the seed. */
            id: string;
            /** @description The idea in one line. */
            title: string;
            /** @description The idea in a few sentences. */
            summary: string;
            /** @description The problem today. */
            problem: string | null;
            /** @description The people who have the problem. */
            audience: string | null;
            /** @description The belief to validate. */
            hypothesis: string | null;
            /** @description What would show that the hypothesis is true. */
            successCriteria: string[];
            /**
             * @description How far the idea is tested. A seed that is `validated` or `dropped` is decided: nobody else can join it.
             * @enum {string}
             */
            status: "open" | "validating" | "validated" | "dropped";
            /** @description The person who created the seed. Null: the account was deleted. */
            createdByUserId: string | null;
            /** @description The name of that person. Null: the account was deleted. */
            createdByName: string | null;
            /** @description The agent that created it for that person; null if the person did. */
            agentName: string | null;
            /** @description The person who leads the seed; null for nobody. */
            leadUserId: string | null;
            /** @description The number of people who have joined the seed. */
            participantCount: number;
            /** @description Whether the caller has joined the seed. */
            joined: boolean;
            /** @description Whether the caller is notified of what happens to the seed. */
            following: boolean;
            /** @description The evidence of the seed, without what was withdrawn. */
            evidenceCounts: {
                /** @description How many support it. */
                supports: number;
                /** @description How many contradict it. */
                contradicts: number;
                /** @description How many do neither. */
                neutral: number;
            };
            /** @description The number of comments on the seed and on its evidence. */
            commentCount: number;
            /**
             * Format: date-time
             * @description When the seed was created.
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description The time of the last edit of the seed or of its evidence.
             */
            updatedAt: string;
        };
        SeedParticipant: {
            /** @description The id of the person. */
            userId: string;
            /** @description The name of the person. */
            name: string;
            /** @description The URL of the profile photo. */
            image: string | null;
            /**
             * Format: date-time
             * @description When the person joined the seed.
             * @example 2026-11-21T03:04:05.678Z
             */
            joinedAt: string;
        };
        SeedCreation: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            seed: components["schemas"]["Seed"];
        };
        /** @description What was found for or against a seed. */
        Evidence: {
            /** @description The id of the evidence. */
            id: string;
            /** @description The id of the seed. */
            seedId: string;
            /**
             * @description How it was found.
             * @enum {string}
             */
            kind: "interview" | "survey" | "experiment" | "metric" | "note";
            /**
             * @description Whether it is for the hypothesis of the seed, against it, or neither.
             * @enum {string}
             */
            verdict: "supports" | "contradicts" | "neutral";
            /** @description What was found. */
            summary: string;
            /** @description The source, an http or https URL. */
            sourceUrl: string | null;
            /** @description The person who added it. Null: the account was deleted. */
            authorUserId: string | null;
            /** @description The name of the author at the time. */
            authorName: string;
            /** @description The agent that added it for the author; null if the author did. */
            agentName: string | null;
            /**
             * Format: date-time
             * @description When the evidence was added.
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the author corrected it last; null if never.
             * @example 2026-11-21T03:04:05.678Z
             */
            editedAt: string | null;
            /**
             * Format: date-time
             * @description Since when it no longer counts; null if it was not withdrawn.
             * @example 2026-11-21T03:04:05.678Z
             */
            withdrawnAt: string | null;
            /** @description The name of the person who withdrew it, at the time. */
            withdrawnByName: string | null;
            /** @description Why it was withdrawn; null without a reason. */
            withdrawnReason: string | null;
        };
        EvidenceAddition: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            evidence: components["schemas"]["Evidence"];
        };
        /**
         * @example {
         *       "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
         *       "name": "Grace Hopper"
         *     }
         */
        Mention: {
            /** @description The id of the person. */
            userId: string;
            /** @description The name of the person now. */
            name: string;
        };
        /** @description What somebody wrote about a seed or its evidence. */
        Comment: {
            /** @description The id of the comment. */
            id: string;
            /** @description The id of the seed. */
            seedId: string;
            /** @description The evidence that it is about; null if it is about the seed itself. */
            evidenceId: string | null;
            /** @description The text, in Markdown (CommonMark without HTML and images). A mention is `[@Name](user:ID)`, with the name that the person has now. */
            body: string;
            /** @description The people whom it mentions. */
            mentions: components["schemas"]["Mention"][];
            /** @description The author. Null: the account was deleted. */
            authorUserId: string | null;
            /** @description The name of the author at the time. */
            authorName: string;
            /** @description The agent that wrote it for the author; null if the author did. */
            agentName: string | null;
            /**
             * Format: date-time
             * @description When the comment was written.
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it was edited last; null if it never was.
             * @example 2026-11-21T03:04:05.678Z
             */
            editedAt: string | null;
        };
        CommentCreation: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            comment: components["schemas"]["Comment"];
        };
        AgentGrant: {
            /** @description The id of the grant. */
            id: string;
            /** @description The OAuth client id of the agent. */
            clientId: string;
            /** @description The name of the agent when access was granted. */
            clientName: string;
            /** @description The home page of the agent, as the agent gave it. */
            clientUri: string | null;
            /** @description The person on whose behalf the agent acts. */
            userId: string;
            /** @description The name of that person. */
            userName: string;
            /** @description What the agent may do, as OAuth scopes. */
            scopes: string[];
            /**
             * Format: date-time
             * @description When access was granted.
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the agent last used its access. Null: never.
             * @example 2026-11-21T03:04:05.678Z
             */
            lastUsedAt: string | null;
            /**
             * Format: date-time
             * @description When the access ends.
             * @example 2026-11-21T03:04:05.678Z
             */
            expiresAt: string;
        };
        AgentCall: {
            /** @description The id of the call. */
            id: string;
            /**
             * Format: date-time
             * @description When the agent called.
             * @example 2026-11-21T03:04:05.678Z
             */
            calledAt: string;
            /** @description The name of the tool over MCP, also for calls over HTTP. */
            tool: string;
            /** @description `ok`, or the code of the error that the agent got. */
            code: string;
            /** @description The seed that the call was about. Null: none, or none that exists in the workspace. */
            seedId: string | null;
            /** @description The title of that seed. */
            seedTitle: string | null;
        };
        /**
         * @description What was found for or against a seed. Withdrawn evidence is in no kit.
         * @example {
         *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e02",
         *       "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
         *       "kind": "experiment",
         *       "verdict": "supports",
         *       "summary": "34 of 60 teams finished the setup within a day.",
         *       "sourceUrl": "https://example.com/experiments/12",
         *       "authorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
         *       "authorName": "Grace Hopper",
         *       "agentName": "Research agent",
         *       "createdAt": "2026-11-21T03:04:05.678Z",
         *       "editedAt": null
         *     }
         */
        ValidationKitEvidence: {
            /** @description The id of the evidence. */
            id: string;
            /** @description The id of the seed. */
            seedId: string;
            /**
             * @description How it was found.
             * @enum {string}
             */
            kind: "interview" | "survey" | "experiment" | "metric" | "note";
            /**
             * @description Whether it is for the hypothesis of the seed, against it, or neither.
             * @enum {string}
             */
            verdict: "supports" | "contradicts" | "neutral";
            /** @description What was found. */
            summary: string;
            /** @description The source, an http or https URL. */
            sourceUrl: string | null;
            /** @description The person who added it. Null: the account was deleted. */
            authorUserId: string | null;
            /** @description The name of the author at the time. */
            authorName: string;
            /** @description The agent that added it for the author; null if the author did. */
            agentName: string | null;
            /**
             * Format: date-time
             * @description When the evidence was added.
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the author corrected it last; null if never.
             * @example 2026-11-21T03:04:05.678Z
             */
            editedAt: string | null;
        };
        /**
         * @example {
         *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0b",
         *       "evidenceId": null,
         *       "body": "Who was asked?",
         *       "authorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
         *       "authorName": "Grace Hopper",
         *       "agentName": null,
         *       "createdAt": "2026-11-21T03:04:05.678Z"
         *     }
         */
        ValidationKitComment: {
            id: string;
            /** @description The evidence that it is about; null for the seed itself. */
            evidenceId: string | null;
            /** @description Markdown. A mention is `[@Name](user:ID)`. */
            body: string;
            /** @description The author. Null: the account was deleted. */
            authorUserId: string | null;
            authorName: string;
            /** @description The agent that wrote it for the author, if one did. */
            agentName: string | null;
            /**
             * Format: date-time
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
        };
        /**
         * @example {
         *       "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
         *       "name": "Grace Hopper"
         *     }
         */
        ValidationKitParticipant: {
            userId: string;
            name: string;
        };
        /**
         * @example {
         *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
         *       "title": "Self-service onboarding",
         *       "summary": "Let new customers set up their account without a call.",
         *       "problem": "The first call is ten days away on average.",
         *       "audience": "Teams of up to ten people.",
         *       "hypothesis": "Half of them finish the setup without help.",
         *       "successCriteria": [
         *         "30 of 60 invited teams finish the setup within a day"
         *       ],
         *       "status": "validating",
         *       "participantCount": 2,
         *       "joined": true,
         *       "agentName": null,
         *       "leadUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
         *       "createdAt": "2026-11-21T03:04:05.678Z",
         *       "updatedAt": "2026-11-21T03:04:05.678Z",
         *       "url": "https://app.example.com/w/acme/seeds/01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
         *       "evidenceCounts": {
         *         "supports": 1,
         *         "contradicts": 0,
         *         "neutral": 0
         *       },
         *       "evidence": [
         *         {
         *           "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e02",
         *           "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
         *           "kind": "experiment",
         *           "verdict": "supports",
         *           "summary": "34 of 60 teams finished the setup within a day.",
         *           "sourceUrl": "https://example.com/experiments/12",
         *           "authorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
         *           "authorName": "Grace Hopper",
         *           "agentName": "Research agent",
         *           "createdAt": "2026-11-21T03:04:05.678Z",
         *           "editedAt": null
         *         }
         *       ]
         *     }
         */
        ValidationKitSeed: {
            /** @description The id of the seed. */
            id: string;
            /** @description The idea in one line. */
            title: string;
            /** @description The idea in a few sentences. */
            summary: string;
            /** @description The problem today. */
            problem: string | null;
            /** @description The people who have the problem. */
            audience: string | null;
            /** @description The belief to validate. */
            hypothesis: string | null;
            /** @description What would show that the hypothesis is true. */
            successCriteria: string[];
            /**
             * @description How far the idea is tested. A seed that is `validated` or `dropped` is decided: nobody else can join it.
             * @enum {string}
             */
            status: "open" | "validating" | "validated" | "dropped";
            /** @description The agent that created it; null for a person. */
            agentName: string | null;
            /** @description The person who leads the seed; null for nobody. */
            leadUserId: string | null;
            /** @description The number of people who have joined the seed. */
            participantCount: number;
            /** @description Whether the caller has joined the seed. */
            joined: boolean;
            /**
             * Format: date-time
             * @example 2026-11-21T03:04:05.678Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description The time of the last edit of the seed or of its evidence.
             */
            updatedAt: string;
            /** @description The page of the seed on the website. */
            url: string;
            /** @description Counts all evidence, including evidence that is not shown. */
            evidenceCounts: {
                /** @description How many support it. */
                supports: number;
                /** @description How many contradict it. */
                contradicts: number;
                /** @description How many do neither. */
                neutral: number;
            };
            /** @description The newest evidence first, as much as fits; with `cursor`, the evidence that follows. */
            evidence: components["schemas"]["ValidationKitEvidence"][];
        };
        /**
         * @example {
         *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
         *       "title": "Self-service onboarding",
         *       "status": "validating",
         *       "evidenceCounts": {
         *         "supports": 1,
         *         "contradicts": 0,
         *         "neutral": 0
         *       },
         *       "updatedAt": "2026-11-21T03:04:05.678Z"
         *     }
         */
        ValidationKitOutlineItem: {
            /** @description The id of the seed. */
            id: string;
            /** @description The idea in one line. */
            title: string;
            /**
             * @description How far the idea is tested. A seed that is `validated` or `dropped` is decided: nobody else can join it.
             * @enum {string}
             */
            status: "open" | "validating" | "validated" | "dropped";
            /** @description Counts all evidence, including evidence that is not shown. */
            evidenceCounts: {
                /** @description How many support it. */
                supports: number;
                /** @description How many contradict it. */
                contradicts: number;
                /** @description How many do neither. */
                neutral: number;
            };
            /**
             * Format: date-time
             * @description The time of the last edit of the seed or of its evidence.
             */
            updatedAt: string;
        };
        ValidationKit: {
            /**
             * @description The version of the format.
             * @constant
             */
            version: "1";
            /**
             * Format: date-time
             * @example 2026-11-21T03:04:05.678Z
             */
            generatedAt: string;
            /** @description The workspace that the agent has access to. */
            workspace: {
                id: string;
                name: string;
                slug: string;
            };
            /** @description What the agent may do, and who granted it. */
            grant: {
                id: string;
                clientName: string;
                /** @description The person on whose behalf the agent acts. */
                userId: string;
                userName: string;
                role: components["schemas"]["Role"];
                scopes: string[];
                /**
                 * Format: date-time
                 * @example 2026-11-21T03:04:05.678Z
                 */
                expiresAt: string;
            };
            /** @description The numbers of seeds that match the input, and of all their evidence, shown or not; of comments if there are `comments`. */
            totals: {
                seeds: number;
                evidence: number;
                comments: number | null;
            };
            /** @description Whether there are more seeds or evidence than are shown. */
            truncated: boolean;
            /** @description The `cursor` of the next request; null at the end. */
            nextCursor: string | null;
            /** @description What is left out and how to read it, why nothing was found, and that comments are content; otherwise null. */
            note: string | null;
            /** @description The seeds that follow those in `seeds`, without their texts. Only over MCP, and with `detail: "outline"`. */
            outline: components["schemas"]["ValidationKitOutlineItem"][];
            /** @description Of one seed, the newest 20 comments, as many as fit. Null without `seedId`, with `cursor`, and for agents without the scope `workspace:read` or with a consent from before it included them. */
            comments: components["schemas"]["ValidationKitComment"][] | null;
            /** @description Of one seed, the first 20 participants. Null without `seedId`, with `cursor`, and for agents without the scope `workspace:read` or with a consent from before it included them. */
            participants: components["schemas"]["ValidationKitParticipant"][] | null;
            /** @description The seeds that changed last, latest first, as many as fit. */
            seeds: components["schemas"]["ValidationKitSeed"][];
        };
        AgentSearch: {
            results: {
                /** @description The id for `fetch`. */
                id: string;
                title: string;
                /** @description The page of the seed on the website. */
                url: string;
            }[];
            /** @description Why nothing was found; otherwise null. */
            note: string | null;
        };
        AgentDocument: {
            id: string;
            title: string;
            /** @description The seed with its newest evidence, in Markdown. */
            text: string;
            /** @description The page of the seed on the website. */
            url: string;
            metadata: {
                status: string;
                /**
                 * Format: date-time
                 * @example 2026-11-21T03:04:05.678Z
                 */
                updatedAt: string;
            };
        };
        AgentSeed: {
            seed: components["schemas"]["Seed"];
            /** @description The page of the seed on the website. */
            url: string;
        };
        AgentEvidence: {
            evidence: components["schemas"]["Evidence"];
            /** @description The page of the seed on the website. */
            url: string;
        };
        AgentComment: {
            comment: components["schemas"]["Comment"];
            /** @description The page of the seed on the website. */
            url: string;
        };
        AgentDone: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
        };
        AgentPeople: {
            people: components["schemas"]["Person"][];
            /** @description Pass it as `cursor`, with the same filters, for the next page; null on the last page. */
            nextCursor: string | null;
        };
        AgentEvents: {
            /** @description With the form `short`. */
            lines: {
                time: string;
                /** @description The person, or `an agent for` the person. */
                actor: string;
                type: string;
                /** @description The id of the seed that it is about; empty if it is about none. */
                seed: string;
                /** @description What the actor did. */
                sentence: string;
            }[];
            /** @description With the form `digest`: events by seed, the latest first. */
            digest: {
                /** @description The id of the seed. */
                id: string;
                title: string;
                /** @description The date of the last event. */
                last: string;
                /** @description Who did something. */
                by: string;
                /** @description Types of events with their numbers, and a changed status. */
                events: string[];
            }[];
            /** @description With the form `digest`: types of events about no seed, with their numbers. */
            others: string[];
            /** @description With the form `full`. */
            events: components["schemas"]["Event"][];
            /** @description What is left out; null if nothing is. */
            note: string | null;
            /** @description Pass it as `cursor`, with the same filters, for the next page; null on the last page. */
            nextCursor: string | null;
        };
        AgentTeam: {
            team: components["schemas"]["Team"];
        };
        AgentTeams: {
            teams: components["schemas"]["Team"][];
            /** @description Pass it as `cursor`, with the same filters, for the next page; null on the last page. */
            nextCursor: string | null;
        };
        AgentInvite: {
            invite: components["schemas"]["Invite"];
        };
        AgentInvites: {
            invites: components["schemas"]["Invite"][];
            /** @description Pass it as `cursor`, with the same filters, for the next page; null on the last page. */
            nextCursor: string | null;
        };
        AgentInviteSent: {
            /**
             * @description Always true: an error has another status.
             * @constant
             */
            ok: true;
            /**
             * Format: date-time
             * @description When the new link stops working.
             * @example 2026-11-21T03:04:05.678Z
             */
            expiresAt: string;
        };
        /**
         * @example {
         *       "error": "invalid_grant",
         *       "error_description": "grant request is invalid"
         *     }
         */
        OAuthError: {
            error: string;
            error_description?: string;
        };
        OAuthServerMetadata: {
            issuer: string;
            authorization_endpoint: string;
            token_endpoint: string;
            registration_endpoint: string;
            revocation_endpoint: string;
            jwks_uri: string;
            response_types_supported: string[];
            response_modes_supported: string[];
            grant_types_supported: string[];
            scopes_supported: string[];
            code_challenge_methods_supported: string[];
            token_endpoint_auth_methods_supported: string[];
            token_endpoint_auth_signing_alg_values_supported: string[];
            revocation_endpoint_auth_methods_supported: string[];
            revocation_endpoint_auth_signing_alg_values_supported: string[];
            authorization_response_iss_parameter_supported: boolean;
            client_id_metadata_document_supported: boolean;
        };
        OAuthResourceMetadata: {
            resource: string;
            resource_name: string;
            authorization_servers: string[];
            scopes_supported: string[];
            bearer_methods_supported: string[];
        };
        OAuthClient: {
            client_id: string;
            /** @description In seconds since 1970. */
            client_id_issued_at: number;
            /** @description Only for clients that authenticate with a secret. It is only returned here. */
            client_secret?: string;
            /** @description 0 means never. */
            client_secret_expires_at?: number;
            redirect_uris: string[];
            client_name?: string;
            /** @enum {string} */
            token_endpoint_auth_method: "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";
            grant_types: string[];
            response_types: string[];
        };
        OAuthTokens: {
            access_token: string;
            /** @constant */
            token_type: "Bearer";
            /** @description In seconds. */
            expires_in: number;
            refresh_token?: string;
            scope?: string;
        };
        JsonWebKeySet: {
            keys: {
                kty: string;
                x: string;
                y: string;
                crv: string;
                kid: string;
                alg: string;
                use: string;
            }[];
        };
    };
    responses: {
        /**
         * @description The request conflicts with the current state.
         *     - `already_invited`: The workspace already has a pending invite for this email address.
         *     - `already_member`: A member of the workspace already has this email address.
         */
        "Conflict.already_invited.already_member": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "already_invited",
                 *       "message": "There is already a pending invite for this email address.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "already_invited" | "already_member";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `already_invited`: The workspace already has a pending invite for this email address.
         *     - `already_member`: A member of the workspace already has this email address.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         */
        "Conflict.already_invited.already_member.idempotency_in_flight.idempotency_key_reused": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "already_invited",
                 *       "message": "There is already a pending invite for this email address.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "already_invited" | "already_member" | "idempotency_in_flight" | "idempotency_key_reused";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `already_team_member`: The person is already in the team.
         */
        "Conflict.already_team_member": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "already_team_member",
                 *       "message": "This person is already in the team.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "already_team_member";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `already_team_member`: The person is already in the team.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         */
        "Conflict.already_team_member.idempotency_in_flight.idempotency_key_reused": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "already_team_member",
                 *       "message": "This person is already in the team.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "already_team_member" | "idempotency_in_flight" | "idempotency_key_reused";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `api_key_limit`: The caller already has 100 active API keys.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         */
        "Conflict.api_key_limit.idempotency_in_flight.idempotency_key_reused": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "api_key_limit",
                 *       "message": "You already have 100 active API keys. Revoke one first.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "api_key_limit" | "idempotency_in_flight" | "idempotency_key_reused";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `api_key_limit`: The caller already has 100 active API keys.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         *     - `key_rotated`: The API key was rotated before, and works only until its overlap ends.
         */
        "Conflict.api_key_limit.idempotency_in_flight.idempotency_key_reused.key_rotated": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "api_key_limit",
                 *       "message": "You already have 100 active API keys. Revoke one first.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "api_key_limit" | "idempotency_in_flight" | "idempotency_key_reused" | "key_rotated";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `cursor_unknown`: The feed has no event at the place of the cursor, or another one: a backup that is older than the cursor was restored. Read the feed again from its beginning.
         */
        "Conflict.cursor_unknown": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "cursor_unknown",
                 *       "message": "The event of this cursor no longer exists. Read the feed again from its beginning.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "cursor_unknown";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `evidence_settled`: The author corrects evidence that was added more than 15 minutes ago, or that was withdrawn.
         */
        "Conflict.evidence_settled": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "evidence_settled",
                 *       "message": "This evidence can no longer be corrected. Withdraw it, and add it again.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "evidence_settled";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `export_in_progress`: Another export of the workspace runs, or one was broken off within the last minute.
         */
        "Conflict.export_in_progress": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "export_in_progress",
                 *       "message": "This workspace is being exported. Try again when that has ended.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "export_in_progress";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         */
        "Conflict.idempotency_in_flight.idempotency_key_reused": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "idempotency_in_flight",
                 *       "message": "The first request with this Idempotency-Key is still running.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_flight" | "idempotency_key_reused";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         *     - `invite_declined`: The person for whom the invite is has declined it.
         *     - `invite_expired`: The invite is older than seven days.
         *     - `invite_revoked`: The invite was revoked, or the person who sent it may no longer invite.
         *     - `invite_used`: The invite has already been accepted.
         *     - `workspace_limit`: The caller creates a workspace or accepts an invite, but is already a member of the maximum number of workspaces.
         */
        "Conflict.idempotency_in_flight.idempotency_key_reused.invite_declined.invite_expired.invite_revoked.invite_used.workspace_limit": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "workspace_limit",
                 *       "message": "You are already a member of the maximum number of workspaces. Leave one first.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_flight" | "idempotency_key_reused" | "invite_declined" | "invite_expired" | "invite_revoked" | "invite_used" | "workspace_limit";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         *     - `invite_declined`: The person for whom the invite is has declined it.
         *     - `invite_revoked`: The invite was revoked, or the person who sent it may no longer invite.
         *     - `invite_used`: The invite has already been accepted.
         */
        "Conflict.idempotency_in_flight.idempotency_key_reused.invite_declined.invite_revoked.invite_used": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "invite_revoked",
                 *       "message": "This invite has been revoked.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_flight" | "idempotency_key_reused" | "invite_declined" | "invite_revoked" | "invite_used";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         *     - `invite_expired`: The invite is older than seven days.
         *     - `invite_revoked`: The invite was revoked, or the person who sent it may no longer invite.
         *     - `invite_used`: The invite has already been accepted.
         */
        "Conflict.idempotency_in_flight.idempotency_key_reused.invite_expired.invite_revoked.invite_used": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "invite_expired",
                 *       "message": "This invite has expired. Ask for a new one.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_flight" | "idempotency_key_reused" | "invite_expired" | "invite_revoked" | "invite_used";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         *     - `invite_used`: The invite has already been accepted.
         */
        "Conflict.idempotency_in_flight.idempotency_key_reused.invite_used": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "invite_used",
                 *       "message": "This invite has already been accepted.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_flight" | "idempotency_key_reused" | "invite_used";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         *     - `last_owner`: The only owner of the workspace would leave or lose the role. When an account is deleted, `message` names the workspaces.
         */
        "Conflict.idempotency_in_flight.idempotency_key_reused.last_owner": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "last_owner",
                 *       "message": "A workspace must have an owner. Make another member an owner first.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_flight" | "idempotency_key_reused" | "last_owner";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         *     - `seed_closed`: The caller joins a seed that is validated or dropped.
         */
        "Conflict.idempotency_in_flight.idempotency_key_reused.seed_closed": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "seed_closed",
                 *       "message": "This seed is validated or dropped and can no longer be joined.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_flight" | "idempotency_key_reused" | "seed_closed";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         *     - `seed_in_use`: The creator deletes or restores a seed that others have joined or added to.
         */
        "Conflict.idempotency_in_flight.idempotency_key_reused.seed_in_use": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "seed_in_use",
                 *       "message": "Others have joined this seed, or added evidence or comments. Ask an owner or an admin to delete it.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_flight" | "idempotency_key_reused" | "seed_in_use";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         *     - `team_name_taken`: Another team of the workspace already has this name, ignoring case.
         */
        "Conflict.idempotency_in_flight.idempotency_key_reused.team_name_taken": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "team_name_taken",
                 *       "message": "Another team in this workspace already has this name.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_flight" | "idempotency_key_reused" | "team_name_taken";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         *     - `too_many_deliveries`: The webhook would get more than 10,000 events of the time from `since` to `until`.
         *     - `webhook_disabled`: Events would be sent again to a webhook that is disabled.
         */
        "Conflict.idempotency_in_flight.idempotency_key_reused.too_many_deliveries.webhook_disabled": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "too_many_deliveries",
                 *       "message": "There are more than 10,000 events in this time. Choose a shorter one.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_flight" | "idempotency_key_reused" | "too_many_deliveries" | "webhook_disabled";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         *     - `webhook_disabled`: Events would be sent again to a webhook that is disabled.
         */
        "Conflict.idempotency_in_flight.idempotency_key_reused.webhook_disabled": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "webhook_disabled",
                 *       "message": "The webhook is disabled. Enable it first.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_flight" | "idempotency_key_reused" | "webhook_disabled";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         *     - `webhook_limit`: The workspace already has 20 webhooks.
         */
        "Conflict.idempotency_in_flight.idempotency_key_reused.webhook_limit": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "webhook_limit",
                 *       "message": "The workspace already has 20 webhooks. Delete one first.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_flight" | "idempotency_key_reused" | "webhook_limit";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
         *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
         *     - `workspace_limit`: The caller creates a workspace or accepts an invite, but is already a member of the maximum number of workspaces.
         */
        "Conflict.idempotency_in_flight.idempotency_key_reused.workspace_limit": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "workspace_limit",
                 *       "message": "You are already a member of the maximum number of workspaces. Leave one first.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "idempotency_in_flight" | "idempotency_key_reused" | "workspace_limit";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `invite_declined`: The person for whom the invite is has declined it.
         *     - `invite_revoked`: The invite was revoked, or the person who sent it may no longer invite.
         *     - `invite_used`: The invite has already been accepted.
         */
        "Conflict.invite_declined.invite_revoked.invite_used": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "invite_revoked",
                 *       "message": "This invite has been revoked.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "invite_declined" | "invite_revoked" | "invite_used";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `invite_used`: The invite has already been accepted.
         */
        "Conflict.invite_used": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "invite_used",
                 *       "message": "This invite has already been accepted.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "invite_used";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `last_owner`: The only owner of the workspace would leave or lose the role. When an account is deleted, `message` names the workspaces.
         */
        "Conflict.last_owner": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "last_owner",
                 *       "message": "A workspace must have an owner. Make another member an owner first.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "last_owner";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `seed_closed`: The caller joins a seed that is validated or dropped.
         */
        "Conflict.seed_closed": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "seed_closed",
                 *       "message": "This seed is validated or dropped and can no longer be joined.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "seed_closed";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `seed_in_use`: The creator deletes or restores a seed that others have joined or added to.
         */
        "Conflict.seed_in_use": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "seed_in_use",
                 *       "message": "Others have joined this seed, or added evidence or comments. Ask an owner or an admin to delete it.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "seed_in_use";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The request conflicts with the current state.
         *     - `team_name_taken`: Another team of the workspace already has this name, ignoring case.
         */
        "Conflict.team_name_taken": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Conflict",
                 *       "code": "team_name_taken",
                 *       "message": "Another team in this workspace already has this name.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "team_name_taken";
                } & components["schemas"]["Conflict"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `email_unverified`: The caller accepts or declines an invite without having verified their email address.
         *     - `invite_email_mismatch`: The caller accepts or declines an invite that was sent to another email address.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
         */
        "Forbidden.email_unverified.invite_email_mismatch.key_not_for_workspace.key_read_only": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Forbidden",
                 *       "code": "email_unverified",
                 *       "message": "Verify your email address first.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "email_unverified" | "invite_email_mismatch" | "key_not_for_workspace" | "key_read_only";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `insufficient_scope`: The grant of the agent lacks the scope of the operation or tool. `WWW-Authenticate` names the scopes to ask the person for (RFC 6750 section 3.1).
         */
        "Forbidden.insufficient_scope": {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Forbidden",
                 *       "code": "insufficient_scope",
                 *       "message": "The person did not allow this agent to do this.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "insufficient_scope";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `insufficient_scope`: The grant of the agent lacks the scope of the operation or tool. `WWW-Authenticate` names the scopes to ask the person for (RFC 6750 section 3.1).
         *     - `not_a_participant`: The caller adds evidence to a seed that they have not joined.
         *     - `role_insufficient`: The caller's role in the workspace does not allow the operation.
         */
        "Forbidden.insufficient_scope.not_a_participant.role_insufficient": {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "insufficient_scope" | "not_a_participant" | "role_insufficient";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `insufficient_scope`: The grant of the agent lacks the scope of the operation or tool. `WWW-Authenticate` names the scopes to ask the person for (RFC 6750 section 3.1).
         *     - `not_the_author`: The caller changes or deletes a comment of somebody else.
         *     - `role_insufficient`: The caller's role in the workspace does not allow the operation.
         */
        "Forbidden.insufficient_scope.not_the_author.role_insufficient": {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "insufficient_scope" | "not_the_author" | "role_insufficient";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `insufficient_scope`: The grant of the agent lacks the scope of the operation or tool. `WWW-Authenticate` names the scopes to ask the person for (RFC 6750 section 3.1).
         *     - `role_insufficient`: The caller's role in the workspace does not allow the operation.
         */
        "Forbidden.insufficient_scope.role_insufficient": {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "insufficient_scope" | "role_insufficient";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `insufficient_scope`: The grant of the agent lacks the scope of the operation or tool. `WWW-Authenticate` names the scopes to ask the person for (RFC 6750 section 3.1).
         *     - `role_insufficient`: The caller's role in the workspace does not allow the operation.
         *     - `role_too_high`: The operation concerns a member or an invite whose role the caller may not manage, or grants a role above that of the caller.
         */
        "Forbidden.insufficient_scope.role_insufficient.role_too_high": {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "insufficient_scope" | "role_insufficient" | "role_too_high";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         */
        "Forbidden.key_not_for_workspace": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Forbidden",
                 *       "code": "key_not_for_workspace",
                 *       "message": "This API key is bound to other workspaces.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_not_for_workspace";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
         */
        "Forbidden.key_not_for_workspace.key_read_only": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Forbidden",
                 *       "code": "key_not_for_workspace",
                 *       "message": "This API key is bound to other workspaces.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_not_for_workspace" | "key_read_only";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
         *     - `key_restricted`: The API key is restricted, and would create a key that may do more, loosen its own restrictions, or manage another key.
         */
        "Forbidden.key_not_for_workspace.key_read_only.key_restricted": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Forbidden",
                 *       "code": "key_restricted",
                 *       "message": "This API key is restricted. It can manage only itself, and create only keys with the same restrictions or more.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_not_for_workspace" | "key_read_only" | "key_restricted";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
         *     - `not_a_member`: The workspace exists, but the caller is not a member of it.
         */
        "Forbidden.key_not_for_workspace.key_read_only.not_a_member": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Forbidden",
                 *       "code": "not_a_member",
                 *       "message": "You are not a member of this workspace.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_not_for_workspace" | "key_read_only" | "not_a_member";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
         *     - `not_a_member`: The workspace exists, but the caller is not a member of it.
         *     - `role_insufficient`: The caller's role in the workspace does not allow the operation.
         */
        "Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_not_for_workspace" | "key_read_only" | "not_a_member" | "role_insufficient";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
         *     - `not_a_member`: The workspace exists, but the caller is not a member of it.
         *     - `role_insufficient`: The caller's role in the workspace does not allow the operation.
         *     - `role_too_high`: The operation concerns a member or an invite whose role the caller may not manage, or grants a role above that of the caller.
         */
        "Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient.role_too_high": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_not_for_workspace" | "key_read_only" | "not_a_member" | "role_insufficient" | "role_too_high";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
         *     - `not_a_participant`: The caller adds evidence to a seed that they have not joined.
         *     - `role_insufficient`: The caller's role in the workspace does not allow the operation.
         */
        "Forbidden.key_not_for_workspace.key_read_only.not_a_participant.role_insufficient": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_not_for_workspace" | "key_read_only" | "not_a_participant" | "role_insufficient";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
         *     - `not_the_author`: The caller changes or deletes a comment of somebody else.
         *     - `role_insufficient`: The caller's role in the workspace does not allow the operation.
         */
        "Forbidden.key_not_for_workspace.key_read_only.not_the_author.role_insufficient": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_not_for_workspace" | "key_read_only" | "not_the_author" | "role_insufficient";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
         *     - `recent_proof_required`: An API key exports or deletes the account of its owner, who has not allowed it on the website in the last ten minutes.
         */
        "Forbidden.key_not_for_workspace.key_read_only.recent_proof_required": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Forbidden",
                 *       "code": "recent_proof_required",
                 *       "message": "Allow this first: on the website, under Security, Leaving. It is then allowed for ten minutes.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_not_for_workspace" | "key_read_only" | "recent_proof_required";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
         *     - `role_insufficient`: The caller's role in the workspace does not allow the operation.
         */
        "Forbidden.key_not_for_workspace.key_read_only.role_insufficient": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_not_for_workspace" | "key_read_only" | "role_insufficient";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         *     - `not_a_member`: The workspace exists, but the caller is not a member of it.
         */
        "Forbidden.key_not_for_workspace.not_a_member": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Forbidden",
                 *       "code": "not_a_member",
                 *       "message": "You are not a member of this workspace.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_not_for_workspace" | "not_a_member";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         *     - `not_a_member`: The workspace exists, but the caller is not a member of it.
         *     - `role_insufficient`: The caller's role in the workspace does not allow the operation.
         */
        "Forbidden.key_not_for_workspace.not_a_member.role_insufficient": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_not_for_workspace" | "not_a_member" | "role_insufficient";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
         *     - `recent_proof_required`: An API key exports or deletes the account of its owner, who has not allowed it on the website in the last ten minutes.
         */
        "Forbidden.key_not_for_workspace.recent_proof_required": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Forbidden",
                 *       "code": "recent_proof_required",
                 *       "message": "Allow this first: on the website, under Security, Leaving. It is then allowed for ten minutes.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_not_for_workspace" | "recent_proof_required";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
         */
        "Forbidden.key_read_only": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Forbidden",
                 *       "code": "key_read_only",
                 *       "message": "This API key can only read.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_read_only";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
         *     - `key_restricted`: The API key is restricted, and would create a key that may do more, loosen its own restrictions, or manage another key.
         */
        "Forbidden.key_read_only.key_restricted": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Forbidden",
                 *       "code": "key_restricted",
                 *       "message": "This API key is restricted. It can manage only itself, and create only keys with the same restrictions or more.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_read_only" | "key_restricted";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The caller may not do this.
         *     - `key_restricted`: The API key is restricted, and would create a key that may do more, loosen its own restrictions, or manage another key.
         */
        "Forbidden.key_restricted": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Forbidden",
                 *       "code": "key_restricted",
                 *       "message": "This API key is restricted. It can manage only itself, and create only keys with the same restrictions or more.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "key_restricted";
                } & components["schemas"]["Forbidden"];
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         */
        HttpApiDecodeError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"];
            };
        };
        /**
         * @description The service failed.
         *     - `internal`: The service failed. Its log has the details under the request id.
         */
        Internal: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Internal"];
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `confirmation_mismatch`: `confirmSlug` is not the current slug of the workspace, or `confirmEmail` not the email address of the caller.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `idempotency_key_invalid`: The header `Idempotency-Key` is empty, is longer than 255 characters, or contains characters other than visible ASCII.
         */
        "InvalidInput.confirmation_mismatch.idempotency_key_invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "confirmation_mismatch" | "idempotency_key_invalid";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `cursor_invalid`: The `cursor` was not returned by this list with the same filters, or the `after` not by the feed of this workspace.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         */
        "InvalidInput.cursor_invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "cursor_invalid";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `cursor_invalid`: The `cursor` was not returned by this list with the same filters, or the `after` not by the feed of this workspace.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `event_type_unknown`: `types` contains a type that is not in docs/events.md, or an empty one.
         */
        "InvalidInput.cursor_invalid.event_type_unknown": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "cursor_invalid" | "event_type_unknown";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `email_invalid`: The value is not an email address, or no mail can reach it: it is longer than 254 characters, its local part than 64 bytes or a label of its domain than 63, or its domain is an IP address.
         */
        "InvalidInput.email_invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "email_invalid";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `email_invalid`: The value is not an email address, or no mail can reach it: it is longer than 254 characters, its local part than 64 bytes or a label of its domain than 63, or its domain is an IP address.
         *     - `idempotency_key_invalid`: The header `Idempotency-Key` is empty, is longer than 255 characters, or contains characters other than visible ASCII.
         */
        "InvalidInput.email_invalid.idempotency_key_invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "email_invalid" | "idempotency_key_invalid";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `event_type_unknown`: `types` contains a type that is not in docs/events.md, or an empty one.
         *     - `idempotency_key_invalid`: The header `Idempotency-Key` is empty, is longer than 255 characters, or contains characters other than visible ASCII.
         *     - `webhook_url_invalid`: `url` is not an https URL, or contains a user name or password. Outside of production, http is allowed for this machine.
         */
        "InvalidInput.event_type_unknown.idempotency_key_invalid.webhook_url_invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "event_type_unknown" | "idempotency_key_invalid" | "webhook_url_invalid";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `event_type_unknown`: `types` contains a type that is not in docs/events.md, or an empty one.
         *     - `webhook_url_invalid`: `url` is not an https URL, or contains a user name or password. Outside of production, http is allowed for this machine.
         */
        "InvalidInput.event_type_unknown.webhook_url_invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "event_type_unknown" | "webhook_url_invalid";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `expiry_in_past`: `expiresAt` is not in the future.
         *     - `idempotency_key_invalid`: The header `Idempotency-Key` is empty, is longer than 255 characters, or contains characters other than visible ASCII.
         *     - `workspace_not_yours`: `workspaceIds` contains an id that is not that of a workspace of the caller. Ids that the key already has may stay.
         */
        "InvalidInput.expiry_in_past.idempotency_key_invalid.workspace_not_yours": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "expiry_in_past" | "idempotency_key_invalid" | "workspace_not_yours";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `expiry_in_past`: `expiresAt` is not in the future.
         *     - `workspace_not_yours`: `workspaceIds` contains an id that is not that of a workspace of the caller. Ids that the key already has may stay.
         */
        "InvalidInput.expiry_in_past.workspace_not_yours": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "expiry_in_past" | "workspace_not_yours";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `idempotency_key_invalid`: The header `Idempotency-Key` is empty, is longer than 255 characters, or contains characters other than visible ASCII.
         */
        "InvalidInput.idempotency_key_invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "idempotency_key_invalid";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `idempotency_key_invalid`: The header `Idempotency-Key` is empty, is longer than 255 characters, or contains characters other than visible ASCII.
         *     - `source_url_invalid`: `sourceUrl` is not an http or https URL, or contains a user name or password.
         */
        "InvalidInput.idempotency_key_invalid.source_url_invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "idempotency_key_invalid" | "source_url_invalid";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `label_invalid`: Website only: the name of an API key or a team is invalid; the message says why. The API returns `decode_error` instead.
         */
        "InvalidInput.label_invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "label_invalid";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `lead_invalid`: The lead of a seed is to be somebody who has not joined it, or who may not change it.
         *     - `reason_without_status`: The request has `statusReason` without `status`.
         */
        "InvalidInput.lead_invalid.reason_without_status": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "lead_invalid" | "reason_without_status";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `lead_invalid`: The lead of a seed is to be somebody who has not joined it, or who may not change it.
         *     - `reason_without_status`: The request has `statusReason` without `status`.
         *     - `text_invalid`: Website and command line only: a text is invalid; the message says why. The API returns `decode_error` instead.
         */
        "InvalidInput.lead_invalid.reason_without_status.text_invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "lead_invalid" | "reason_without_status" | "text_invalid";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `source_url_invalid`: `sourceUrl` is not an http or https URL, or contains a user name or password.
         */
        "InvalidInput.source_url_invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "source_url_invalid";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `source_url_invalid`: `sourceUrl` is not an http or https URL, or contains a user name or password.
         *     - `text_invalid`: Website and command line only: a text is invalid; the message says why. The API returns `decode_error` instead.
         */
        "InvalidInput.source_url_invalid.text_invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "source_url_invalid" | "text_invalid";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The request is malformed or its input is invalid.
         *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
         *     - `text_invalid`: Website and command line only: a text is invalid; the message says why. The API returns `decode_error` instead.
         */
        "InvalidInput.text_invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                    /** @enum {unknown} */
                    code?: "text_invalid";
                } & components["schemas"]["InvalidInput"]);
            };
        };
        /**
         * @description The target does not exist, or the caller may not see it.
         *     - `not_found`: An id or slug in the request does not exist, or the caller may not see what it names. The two cases get the same response.
         */
        "NotFound.not_found": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "not_found";
                } & components["schemas"]["NotFound"];
            };
        };
        /**
         * @description The request is too large.
         *     - `body_too_large`: The JSON body is larger than 64 KiB, or the uploaded file is larger than 5 MiB.
         *     - `headers_too_large`: The request headers are larger than 16 KiB in total.
         *     - `url_too_long`: The path and query are longer than 8 KiB in total.
         */
        "PayloadTooLarge.body_too_large.headers_too_large.url_too_long": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "body_too_large" | "headers_too_large" | "url_too_long";
                } & components["schemas"]["PayloadTooLarge"];
            };
        };
        /**
         * @description The request is too large.
         *     - `headers_too_large`: The request headers are larger than 16 KiB in total.
         *     - `url_too_long`: The path and query are longer than 8 KiB in total.
         */
        "PayloadTooLarge.headers_too_large.url_too_long": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "PayloadTooLarge",
                 *       "code": "headers_too_large",
                 *       "message": "The request headers are too large.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "headers_too_large" | "url_too_long";
                } & components["schemas"]["PayloadTooLarge"];
            };
        };
        /**
         * @description What the request would change was changed since it was read.
         *     - `precondition_failed`: No tag in `If-Match` has the current version of what the request would change.
         */
        PreconditionFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["PreconditionFailed"];
            };
        };
        /**
         * @description The service is not available at the moment.
         *     - `database_unavailable`: The database cannot be reached, or does not respond in time. Retry after `Retry-After` seconds.
         *     - `overloaded`: The service as a whole has more requests than it can process. Retry after `Retry-After` seconds.
         */
        "ServiceUnavailable.database_unavailable.overloaded": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "database_unavailable" | "overloaded";
                } & components["schemas"]["ServiceUnavailable"];
            };
        };
        /**
         * @description The service is not available at the moment.
         *     - `database_unavailable`: The database cannot be reached, or does not respond in time. Retry after `Retry-After` seconds.
         *     - `overloaded`: The service as a whole has more requests than it can process. Retry after `Retry-After` seconds.
         *     - `storage_unavailable`: Pictures cannot be stored or read: the disk is full or read-only, or the object store does not respond. Retry after `Retry-After` seconds.
         *     - `uploads_busy`: Too many images are waiting to be decoded. Retry after `Retry-After` seconds.
         */
        "ServiceUnavailable.database_unavailable.overloaded.storage_unavailable.uploads_busy": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "database_unavailable" | "overloaded" | "storage_unavailable" | "uploads_busy";
                } & components["schemas"]["ServiceUnavailable"];
            };
        };
        /**
         * @description The service is not available at the moment.
         *     - `not_ready`: The database does not respond or is not migrated, or the process is stopping. Retry after `Retry-After` seconds.
         */
        "ServiceUnavailable.not_ready": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "ServiceUnavailable",
                 *       "code": "not_ready",
                 *       "message": "The service is not ready to answer requests.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "not_ready";
                } & components["schemas"]["ServiceUnavailable"];
            };
        };
        /**
         * @description The service is not available at the moment.
         *     - `overloaded`: The service as a whole has more requests than it can process. Retry after `Retry-After` seconds.
         */
        "ServiceUnavailable.overloaded": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "ServiceUnavailable",
                 *       "code": "overloaded",
                 *       "message": "The service is overloaded. Try again later.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "overloaded";
                } & components["schemas"]["ServiceUnavailable"];
            };
        };
        /**
         * @description Too many requests.
         *     - `agent_rate_limited`: The grant has made more requests than `AGENT_LIMIT_PER_MINUTE`, or its client or client address more than ten times as many. Retry after `Retry-After` seconds.
         *     - `too_many_at_once`: The caller has sent more lists, or more changes, at once than run and wait in a process, or has waited too long for a turn: two of each run at once for a person, and 128 more wait. Changes of one workspace take turns too. While the process has more than `REQUESTS_AT_ONCE_MAX` requests in progress, callers who have a tenth of them are refused first. Retry after `Retry-After` seconds.
         *     - `too_many_bad_keys`: The client address has sent more invalid API keys, or invalid access tokens, than `BAD_KEY_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.
         */
        "TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "TooManyRequests",
                 *       "code": "agent_rate_limited",
                 *       "message": "Too many requests from this agent. Try again later.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "agent_rate_limited" | "too_many_at_once" | "too_many_bad_keys";
                } & components["schemas"]["TooManyRequests"];
            };
        };
        /**
         * @description Too many requests.
         *     - `agent_rate_limited`: The grant has made more requests than `AGENT_LIMIT_PER_MINUTE`, or its client or client address more than ten times as many. Retry after `Retry-After` seconds.
         *     - `too_many_at_once`: The caller has sent more lists, or more changes, at once than run and wait in a process, or has waited too long for a turn: two of each run at once for a person, and 128 more wait. Changes of one workspace take turns too. While the process has more than `REQUESTS_AT_ONCE_MAX` requests in progress, callers who have a tenth of them are refused first. Retry after `Retry-After` seconds.
         *     - `too_many_bad_keys`: The client address has sent more invalid API keys, or invalid access tokens, than `BAD_KEY_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.
         *     - `too_many_invites`: The workspace has sent more invites than `INVITE_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.
         *     - `too_many_invites_to_recipient`: All workspaces together have sent more invites to the email address than `MAIL_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.
         */
        "TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys.too_many_invites.too_many_invites_to_recipient": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "TooManyRequests",
                 *       "code": "too_many_invites_to_recipient",
                 *       "message": "Too many invites to this email address. Try again later.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "agent_rate_limited" | "too_many_at_once" | "too_many_bad_keys" | "too_many_invites" | "too_many_invites_to_recipient";
                } & components["schemas"]["TooManyRequests"];
            };
        };
        /**
         * @description Too many requests.
         *     - `rate_limited`: The API key has made more requests than `RATE_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.
         *     - `too_many_at_once`: The caller has sent more lists, or more changes, at once than run and wait in a process, or has waited too long for a turn: two of each run at once for a person, and 128 more wait. Changes of one workspace take turns too. While the process has more than `REQUESTS_AT_ONCE_MAX` requests in progress, callers who have a tenth of them are refused first. Retry after `Retry-After` seconds.
         *     - `too_many_bad_keys`: The client address has sent more invalid API keys, or invalid access tokens, than `BAD_KEY_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.
         */
        "TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "rate_limited" | "too_many_at_once" | "too_many_bad_keys";
                } & components["schemas"]["TooManyRequests"];
            };
        };
        /**
         * @description Too many requests.
         *     - `rate_limited`: The API key has made more requests than `RATE_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.
         *     - `too_many_at_once`: The caller has sent more lists, or more changes, at once than run and wait in a process, or has waited too long for a turn: two of each run at once for a person, and 128 more wait. Changes of one workspace take turns too. While the process has more than `REQUESTS_AT_ONCE_MAX` requests in progress, callers who have a tenth of them are refused first. Retry after `Retry-After` seconds.
         *     - `too_many_bad_keys`: The client address has sent more invalid API keys, or invalid access tokens, than `BAD_KEY_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.
         *     - `too_many_invites`: The workspace has sent more invites than `INVITE_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.
         *     - `too_many_invites_to_recipient`: All workspaces together have sent more invites to the email address than `MAIL_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.
         */
        "TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys.too_many_invites.too_many_invites_to_recipient": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "rate_limited" | "too_many_at_once" | "too_many_bad_keys" | "too_many_invites" | "too_many_invites_to_recipient";
                } & components["schemas"]["TooManyRequests"];
            };
        };
        /**
         * @description Too many requests.
         *     - `rate_limited`: The API key has made more requests than `RATE_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.
         *     - `too_many_at_once`: The caller has sent more lists, or more changes, at once than run and wait in a process, or has waited too long for a turn: two of each run at once for a person, and 128 more wait. Changes of one workspace take turns too. While the process has more than `REQUESTS_AT_ONCE_MAX` requests in progress, callers who have a tenth of them are refused first. Retry after `Retry-After` seconds.
         *     - `too_many_bad_keys`: The client address has sent more invalid API keys, or invalid access tokens, than `BAD_KEY_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.
         *     - `too_many_streams`: The API key has 50 streams open in the process that answered, its owner 100 with all keys and agents, or the process 1,000 in total. Retry after `Retry-After` seconds.
         */
        "TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys.too_many_streams": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "rate_limited" | "too_many_at_once" | "too_many_bad_keys" | "too_many_streams";
                } & components["schemas"]["TooManyRequests"];
            };
        };
        /**
         * @description Too many requests.
         *     - `rate_limited`: The API key has made more requests than `RATE_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.
         *     - `too_many_at_once`: The caller has sent more lists, or more changes, at once than run and wait in a process, or has waited too long for a turn: two of each run at once for a person, and 128 more wait. Changes of one workspace take turns too. While the process has more than `REQUESTS_AT_ONCE_MAX` requests in progress, callers who have a tenth of them are refused first. Retry after `Retry-After` seconds.
         *     - `too_many_bad_keys`: The client address has sent more invalid API keys, or invalid access tokens, than `BAD_KEY_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.
         *     - `too_many_uploads`: The caller has uploaded more files than `UPLOAD_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.
         */
        "TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys.too_many_uploads": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "rate_limited" | "too_many_at_once" | "too_many_bad_keys" | "too_many_uploads";
                } & components["schemas"]["TooManyRequests"];
            };
        };
        /**
         * @description Too many requests.
         *     - `too_many_at_once`: The caller has sent more lists, or more changes, at once than run and wait in a process, or has waited too long for a turn: two of each run at once for a person, and 128 more wait. Changes of one workspace take turns too. While the process has more than `REQUESTS_AT_ONCE_MAX` requests in progress, callers who have a tenth of them are refused first. Retry after `Retry-After` seconds.
         */
        "TooManyRequests.too_many_at_once": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "TooManyRequests",
                 *       "code": "too_many_at_once",
                 *       "message": "Too many requests at once. Send fewer at a time, and try again.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "too_many_at_once";
                } & components["schemas"]["TooManyRequests"];
            };
        };
        /**
         * @description A valid credential is required.
         *     - `agent_token_required`: The request has no access token, or the token is invalid, expired or revoked, or is an API key.
         */
        "Unauthorized.agent_token_required": {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "_tag": "Unauthorized",
                 *       "code": "agent_token_required",
                 *       "message": "A valid access token of an agent is required. API keys are not accepted here.",
                 *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    code?: "agent_token_required";
                } & components["schemas"]["Unauthorized"];
            };
        };
        /**
         * @description A valid credential is required.
         *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
         */
        "Unauthorized.api_key_required": {
            headers: {
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    code?: "api_key_required";
                } & components["schemas"]["Unauthorized"];
            };
        };
        /**
         * @description The request body has the wrong content type.
         *     - `unsupported_media_type`: The body is not `application/json`, or the body of an upload is not `multipart/form-data`; or its charset is not UTF-8; or it is compressed (`Content-Encoding`).
         */
        UnsupportedMediaType: {
            headers: {
                "Accept-Encoding": components["headers"]["Accept-Encoding"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["UnsupportedMediaType"];
            };
        };
    };
    parameters: {
        /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
        "header.Idempotency-Key": string;
        /** @description A tag that the client has read, several, or `*`. If what the request changes has the version of none of them, nothing is changed, and the response is 412. */
        "header.If-Match": string;
        /** @description The tags that the client has, or `*`. If the current one is among them, the response is 304. */
        "header.If-None-Match": string;
        /** @description The id of the API key. It is no secret. */
        "path.apiKeyId": string;
        /** @description The id of the comment. */
        "path.commentId": string;
        /** @description The id of the evidence. */
        "path.evidenceId": string;
        /** @description The id of the seed. */
        "path.id": string;
        /** @description The id of the invite. */
        "path.inviteId": string;
        /** @description The slug of the workspace, or one that it had in the last 90 days. */
        "path.slug": string;
        /** @description The id of the team. */
        "path.teamId": string;
        /** @description The token of the invite: the last part of its link. */
        "path.token": string;
        /** @description The id of the person. */
        "path.userId": string;
        /** @description The id of the webhook. */
        "path.webhookId": string;
        /** @description The id of the workspace. */
        "path.workspaceId": string;
        /** @description Only events behind this cursor, from an earlier response; `now`: only those that happen from now on. By default from the first event of the workspace. */
        "query.after": string;
        /** @description Where the page starts, from the `Link` of the previous page. */
        "query.cursor": string;
        /** @description Only events of this agent: with this `grantId`. */
        "query.grantId": string;
        /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
        "query.limit": number;
        /** @description No events of these types. One that does not exist is ignored: it may be of a later version. */
        "query.notTypes": string[];
        /** @description What to look for: all of its words, or words that begin with them. Case and accents do not matter. Text without a letter or a digit finds nothing. */
        "query.q": string;
        /** @description Only events about this seed, those of its evidence included. */
        "query.seedId": string;
        /** @description Only events of these types. Repeat the parameter, or separate them by commas. A type that does not exist is refused. */
        "query.types": string[];
    };
    requestBodies: never;
    headers: {
        /**
         * @description The id of the request, as in `requestId` of errors and in the log of the service.
         * @example 0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f
         */
        "X-Request-Id": string;
        /**
         * @description Whether the response may be cached (RFC 9111).
         * @example private, no-store
         */
        "Cache-Control": string;
        /**
         * @description The entity tag of the object (RFC 9110, section 8.8.3): its version and the digest of the response. Send it as `If-Match` with a change, so that changes of others are not lost, or as `If-None-Match`, to learn whether there is something new. It is weak (`W/`) when the response is compressed; both headers accept it so.
         * @example "f4Xq0ZrKc1uLw9bE.T2mVd8Yh3nPa6sJo"
         */
        ETag: string;
        /**
         * @description The remaining requests `r` of the API key or of the grant, and the seconds `t` until the window ends (draft-ietf-httpapi-ratelimit-headers). Absent when the limit is off.
         * @example "api-key";r=5999;t=60
         */
        RateLimit: string;
        /**
         * @description The requests `q` that an API key or a grant may make in each window of `w` seconds.
         * @example "api-key";q=6000;w=60
         */
        "RateLimit-Policy": string;
        /**
         * @description The seconds to wait before the next attempt (RFC 9110, section 10.2.3).
         * @example 30
         */
        "Retry-After": number;
        /**
         * @description How to authenticate (RFC 9110, section 11.6.1).
         * @example Bearer
         */
        "WWW-Authenticate": string;
        /**
         * @description The content coding of bodies that is supported. Sent only if that of the request is not (RFC 9110, section 15.5.16).
         * @example identity
         */
        "Accept-Encoding": "identity";
        /**
         * @description The URL of the next page, with the relation `next` (RFC 8288). Absent on the last page.
         * @example <https://api.example.com/v1/workspaces/acme/members?limit=100&cursor=eyJ2IjoxfQ>; rel="next"
         */
        Link: string;
        /**
         * @description The current path of the resource (RFC 9110, section 8.7). Sent when the request path has a former slug, or when the operation has changed the slug.
         * @example /v1/workspaces/acme
         */
        "Content-Location": string;
        /**
         * @description The name under which the response is saved (RFC 6266).
         * @example attachment; filename="acme-2026-11-21.ndjson"
         */
        "Content-Disposition": string;
        /**
         * @description Sent when the response is the stored response to an earlier request with the same `Idempotency-Key`.
         * @example true
         */
        "Idempotent-Replayed": "true";
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "system.health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is alive. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "service": "api"
                     *     }
                     */
                    "application/json": components["schemas"]["Health"];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | components["schemas"]["InvalidInput"];
                };
            };
            /** @description A valid credential is required. */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Unauthorized"];
                };
            };
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Forbidden"];
                };
            };
            /** @description The target does not exist, or the caller may not see it. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFound"];
                };
            };
            /** @description The request conflicts with the current state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
        };
    };
    "system.ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The service can answer requests. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.not_ready"];
        };
    };
    "agentOAuth.serverMetadata": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The metadata of the authorization server. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "issuer": "https://api.example.com",
                     *       "authorization_endpoint": "https://app.example.com/agent/oauth/authorize",
                     *       "token_endpoint": "https://api.example.com/agent/oauth/token",
                     *       "registration_endpoint": "https://api.example.com/agent/oauth/register",
                     *       "revocation_endpoint": "https://api.example.com/agent/oauth/revoke",
                     *       "jwks_uri": "https://api.example.com/agent/oauth/jwks",
                     *       "response_types_supported": [
                     *         "code"
                     *       ],
                     *       "response_modes_supported": [
                     *         "query"
                     *       ],
                     *       "grant_types_supported": [
                     *         "authorization_code",
                     *         "refresh_token"
                     *       ],
                     *       "scopes_supported": [
                     *         "validation-kit:read",
                     *         "offline_access"
                     *       ],
                     *       "code_challenge_methods_supported": [
                     *         "S256"
                     *       ],
                     *       "token_endpoint_auth_methods_supported": [
                     *         "none",
                     *         "client_secret_basic",
                     *         "client_secret_post",
                     *         "private_key_jwt"
                     *       ],
                     *       "token_endpoint_auth_signing_alg_values_supported": [
                     *         "ES256",
                     *         "RS256",
                     *         "PS256",
                     *         "EdDSA",
                     *         "Ed25519"
                     *       ],
                     *       "revocation_endpoint_auth_methods_supported": [
                     *         "none",
                     *         "client_secret_basic",
                     *         "client_secret_post",
                     *         "private_key_jwt"
                     *       ],
                     *       "revocation_endpoint_auth_signing_alg_values_supported": [
                     *         "ES256",
                     *         "RS256",
                     *         "PS256",
                     *         "EdDSA",
                     *         "Ed25519"
                     *       ],
                     *       "authorization_response_iss_parameter_supported": true,
                     *       "client_id_metadata_document_supported": true
                     *     }
                     */
                    "application/json": components["schemas"]["OAuthServerMetadata"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.too_many_at_once"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.overloaded"];
        };
    };
    "agentOAuth.resourceMetadata": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The metadata of the protected resource. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "resource": "https://api.example.com/agent/mcp",
                     *       "resource_name": "Workspace",
                     *       "authorization_servers": [
                     *         "https://api.example.com"
                     *       ],
                     *       "scopes_supported": [
                     *         "validation-kit:read"
                     *       ],
                     *       "bearer_methods_supported": [
                     *         "header"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["OAuthResourceMetadata"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.too_many_at_once"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.overloaded"];
        };
    };
    "agentOAuth.jwks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The public keys. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "keys": [
                     *         {
                     *           "kty": "EC",
                     *           "x": "1kPyHyWW8ZZ909jhou1rcvYGuZxvrQ0_rFxmVLgl_VI",
                     *           "y": "_8KgCNb-4zgBMoznQA8TEha1W5G1t7FtGwQIHDxRq-4",
                     *           "crv": "P-256",
                     *           "kid": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e10",
                     *           "alg": "ES256",
                     *           "use": "sig"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["JsonWebKeySet"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.too_many_at_once"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agentOAuth.register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "redirect_uris": [
                 *         "https://agent.example.com/callback"
                 *       ],
                 *       "client_name": "Research agent"
                 *     }
                 */
                "application/json": {
                    redirect_uris: string[];
                    client_name?: string;
                    client_uri?: string;
                    logo_uri?: string;
                    /** @enum {string} */
                    token_endpoint_auth_method?: "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";
                    /** @enum {string} */
                    token_endpoint_auth_signing_alg?: "ES256" | "RS256" | "PS256" | "EdDSA" | "Ed25519";
                    /** @description For `private_key_jwt`: an https URL of the public keys. It is fetched once somebody has allowed the client. */
                    jwks_uri?: string;
                    /** @description For `private_key_jwt`: the public keys (RFC 7517), instead of `jwks_uri`. */
                    jwks?: {
                        [key: string]: unknown;
                    };
                    grant_types?: string[];
                    response_types?: string[];
                    scope?: string;
                    software_id?: string;
                    software_version?: string;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description The registered client. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "client_id": "r5xA2M42kEsTgS--bHms7YmKY5Cds6W08j24cbzs8ez",
                     *       "client_id_issued_at": 1795230245,
                     *       "redirect_uris": [
                     *         "https://agent.example.com/callback"
                     *       ],
                     *       "client_name": "Research agent",
                     *       "token_endpoint_auth_method": "none",
                     *       "grant_types": [
                     *         "authorization_code",
                     *         "refresh_token"
                     *       ],
                     *       "response_types": [
                     *         "code"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["OAuthClient"];
                };
            };
            /** @description `invalid_client_metadata` or `invalid_redirect_uri`. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description `invalid_client_metadata`: the request is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description `invalid_client_metadata`: the request body is not `application/json`, its charset is not UTF-8, or it is compressed. */
            415: {
                headers: {
                    "Accept-Encoding": components["headers"]["Accept-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description `temporarily_unavailable`: too many registrations. Retry later. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description `server_error`: the service failed. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description `temporarily_unavailable`: the database cannot be reached. Retry later. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
        };
    };
    "agentOAuth.token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "grant_type": "authorization_code",
                 *       "code": "YgxFQ4mR0nT7aJ2cX9sV5bL1",
                 *       "code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
                 *       "redirect_uri": "https://agent.example.com/callback",
                 *       "client_id": "r5xA2M42kEsTgS--bHms7YmKY5Cds6W08j24cbzs8ez",
                 *       "resource": "https://api.example.com/agent/mcp"
                 *     }
                 */
                "application/x-www-form-urlencoded": {
                    /** @enum {string} */
                    grant_type: "authorization_code" | "refresh_token";
                    code?: string;
                    code_verifier?: string;
                    redirect_uri?: string;
                    refresh_token?: string;
                    client_id?: string;
                    client_secret?: string;
                    client_assertion_type?: string;
                    /** @description Of a client with `private_key_jwt` (RFC 7523 §2.2). */
                    client_assertion?: string;
                    resource?: string;
                    scope?: string;
                };
            };
        };
        responses: {
            /** @description The tokens. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "access_token": "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzY29wZSI6InZhbGlkYXRpb24ta2l0OnJlYWQifQ.c2lnbmF0dXJl",
                     *       "token_type": "Bearer",
                     *       "expires_in": 3600,
                     *       "refresh_token": "g3bTeJVfAHqlS0D2eK3vEAUq8ztV1ReM2yidRZn0lmw",
                     *       "scope": "validation-kit:read"
                     *     }
                     */
                    "application/json": components["schemas"]["OAuthTokens"];
                };
            };
            /** @description An error such as `invalid_grant` or `invalid_request` (RFC 6749 §5.2). */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description `invalid_client`: the client is unknown, or its secret or its JWT is wrong. `error_description` says whether to register again. */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            /** @description `invalid_request`: the charset of the form is not UTF-8, or it is compressed. */
            415: {
                headers: {
                    "Accept-Encoding": components["headers"]["Accept-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description `temporarily_unavailable`: too many refreshes of the grant, or too many refused requests from the address. Retry later. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description `server_error`: the service failed. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description `temporarily_unavailable`: the database cannot be reached, or the metadata document or the keys of the client cannot. Retry later. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
        };
    };
    "agentOAuth.revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "g3bTeJVfAHqlS0D2eK3vEAUq8ztV1ReM2yidRZn0lmw",
                 *       "client_id": "r5xA2M42kEsTgS--bHms7YmKY5Cds6W08j24cbzs8ez"
                 *     }
                 */
                "application/x-www-form-urlencoded": {
                    token: string;
                    token_type_hint?: string;
                    client_id?: string;
                    client_secret?: string;
                    client_assertion_type?: string;
                    /** @description Of a client with `private_key_jwt` (RFC 7523 §2.2). */
                    client_assertion?: string;
                };
            };
        };
        responses: {
            /** @description The token is revoked, or was never valid. The response has no content. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description An error such as `invalid_request` or `unsupported_token_type` (RFC 7009 §2.2.1). */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description `invalid_client`: the client is unknown, or its secret or its JWT is wrong. `error_description` says whether to register again. */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            /** @description `invalid_request`: the charset of the form is not UTF-8, or it is compressed. */
            415: {
                headers: {
                    "Accept-Encoding": components["headers"]["Accept-Encoding"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description `temporarily_unavailable`: too many refused requests from this address. Retry later. */
            429: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description `server_error`: the service failed. */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
            /** @description `temporarily_unavailable`: the database cannot be reached, or the metadata document or the keys of the client cannot. Retry later. */
            503: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OAuthError"];
                };
            };
        };
    };
    "agent.readValidationKit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06"
                 *     }
                 */
                "application/json": {
                    /** @description Only this seed. Then only cursor and evidenceLimit have an effect. */
                    seedId?: string;
                    /** @enum {string} */
                    status?: "open" | "validating" | "validated" | "dropped";
                    /** @description Only seeds with all of these words, or words that begin with them. */
                    query?: string;
                    /**
                     * @description Only seeds that were edited, or got evidence, since this date (UTC) or time (RFC 3339).
                     * @example 2026-11-21T03:04:05.678Z
                     */
                    updatedSince?: string | unknown | unknown;
                    /** @description Seeds; default 200, of which at most 50 in full. */
                    limit?: number;
                    /** @description nextCursor of the previous response, with the same seedId and filters. */
                    cursor?: string;
                    /** @description Evidence of each seed; default 20. */
                    evidenceLimit?: number;
                    /**
                     * @description Default over MCP: outline; over HTTP: full.
                     * @enum {string}
                     */
                    detail?: "outline" | "full";
                };
            };
        };
        responses: {
            /** @description The validation kit. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": "1",
                     *       "generatedAt": "2026-11-21T03:04:05.678Z",
                     *       "workspace": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09",
                     *         "name": "Acme",
                     *         "slug": "acme"
                     *       },
                     *       "grant": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e04",
                     *         "clientName": "Research agent",
                     *         "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "userName": "Grace Hopper",
                     *         "role": "member",
                     *         "scopes": [
                     *           "validation-kit:read"
                     *         ],
                     *         "expiresAt": "2026-11-28T03:04:05.678Z"
                     *       },
                     *       "totals": {
                     *         "seeds": 1,
                     *         "evidence": 1,
                     *         "comments": 1
                     *       },
                     *       "truncated": false,
                     *       "nextCursor": null,
                     *       "note": null,
                     *       "outline": [],
                     *       "comments": [
                     *         {
                     *           "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0b",
                     *           "evidenceId": null,
                     *           "body": "Who was asked?",
                     *           "authorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *           "authorName": "Grace Hopper",
                     *           "agentName": null,
                     *           "createdAt": "2026-11-21T03:04:05.678Z"
                     *         }
                     *       ],
                     *       "participants": [
                     *         {
                     *           "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *           "name": "Grace Hopper"
                     *         }
                     *       ],
                     *       "seeds": [
                     *         {
                     *           "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *           "title": "Self-service onboarding",
                     *           "summary": "Let new customers set up their account without a call.",
                     *           "problem": "The first call is ten days away on average.",
                     *           "audience": "Teams of up to ten people.",
                     *           "hypothesis": "Half of them finish the setup without help.",
                     *           "successCriteria": [
                     *             "30 of 60 invited teams finish the setup within a day"
                     *           ],
                     *           "status": "validating",
                     *           "participantCount": 2,
                     *           "joined": true,
                     *           "agentName": null,
                     *           "leadUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *           "createdAt": "2026-11-21T03:04:05.678Z",
                     *           "updatedAt": "2026-11-21T03:04:05.678Z",
                     *           "url": "https://app.example.com/w/acme/seeds/01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *           "evidenceCounts": {
                     *             "supports": 1,
                     *             "contradicts": 0,
                     *             "neutral": 0
                     *           },
                     *           "evidence": [
                     *             {
                     *               "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e02",
                     *               "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *               "kind": "experiment",
                     *               "verdict": "supports",
                     *               "summary": "34 of 60 teams finished the setup within a day.",
                     *               "sourceUrl": "https://example.com/experiments/12",
                     *               "authorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *               "authorName": "Grace Hopper",
                     *               "agentName": "Research agent",
                     *               "createdAt": "2026-11-21T03:04:05.678Z",
                     *               "editedAt": null
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ValidationKit"];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "query": "onboarding"
                 *     }
                 */
                "application/json": {
                    /** @description A few words. */
                    query: string;
                };
            };
        };
        responses: {
            /** @description The results. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "results": [
                     *         {
                     *           "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *           "title": "Self-service onboarding",
                     *           "url": "https://app.example.com/w/acme/seeds/01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06"
                     *         }
                     *       ],
                     *       "note": null
                     *     }
                     */
                    "application/json": components["schemas"]["AgentSearch"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.fetch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06"
                 *     }
                 */
                "application/json": {
                    /** @description Of a result of search. */
                    id: string;
                };
            };
        };
        responses: {
            /** @description The seed as text. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *       "title": "Self-service onboarding",
                     *       "text": "# Self-service onboarding\n\nStatus: validating",
                     *       "url": "https://app.example.com/w/acme/seeds/01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *       "metadata": {
                     *         "status": "validating",
                     *         "updatedAt": "2026-11-21T03:04:05.678Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AgentDocument"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.listPeople": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "query": "grace"
                 *     }
                 */
                "application/json": {
                    /** @description A part of a name or an email address. */
                    query?: string;
                    /** @enum {string} */
                    kind?: "member" | "invited";
                    role?: components["schemas"]["Role"];
                    teamId?: string;
                    /** @description Default 50. */
                    limit?: number;
                    /** @description nextCursor of the previous response, with the same filters. */
                    cursor?: string;
                };
            };
        };
        responses: {
            /** @description A page of people. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "people": [
                     *         {
                     *           "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *           "kind": "member",
                     *           "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *           "name": "Grace Hopper",
                     *           "email": "grace@example.com",
                     *           "image": null,
                     *           "role": "admin",
                     *           "teams": [
                     *             {
                     *               "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07",
                     *               "name": "Design"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["AgentPeople"];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.listEvents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "types": [
                 *         "seed.created"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @enum {string} */
                    form?: "short" | "digest" | "full";
                    types?: string[];
                    notTypes?: string[];
                    /** @description Only about this seed, its evidence and comments. */
                    seedId?: string;
                    grantId?: string;
                    actorUserId?: string;
                    targetId?: string;
                    /**
                     * @description A date (UTC) or time (RFC 3339).
                     * @example 2026-11-21T03:04:05.678Z
                     */
                    since?: string | unknown | unknown;
                    /**
                     * @description Exclusive.
                     * @example 2026-11-21T03:04:05.678Z
                     */
                    until?: string | unknown | unknown;
                    /** @description Default 50. */
                    limit?: number;
                    /** @description nextCursor of the previous response, with the same filters. */
                    cursor?: string;
                };
            };
        };
        responses: {
            /** @description A page of events. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "lines": [
                     *         {
                     *           "time": "2026-11-21T03:04:05Z",
                     *           "actor": "Grace Hopper",
                     *           "type": "seed.created",
                     *           "seed": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *           "sentence": "created the seed Self-service onboarding"
                     *         }
                     *       ],
                     *       "digest": [],
                     *       "others": [],
                     *       "events": [],
                     *       "note": null,
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["AgentEvents"];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid.event_type_unknown"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.createSeed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "Self-service onboarding",
                 *       "summary": "New customers set up their account."
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 120 characters, not blank. White space becomes single spaces. Control characters and invisible formatting are refused. */
                    title: string;
                    /** @description 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    summary: string;
                    /** @description Empty, or 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    problem?: string;
                    /** @description Empty, or 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    audience?: string;
                    /** @description Empty, or 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    hypothesis?: string;
                    successCriteria?: string[];
                };
            };
        };
        responses: {
            /** @description The new seed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "seed": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "title": "Self-service onboarding",
                     *         "summary": "Let new customers set up their account without a call.",
                     *         "problem": "The first call is ten days away on average.",
                     *         "audience": "Teams of up to ten people.",
                     *         "hypothesis": "Half of them finish the setup without help.",
                     *         "successCriteria": [
                     *           "30 of 60 invited teams finish the setup within a day"
                     *         ],
                     *         "status": "validating",
                     *         "participantCount": 2,
                     *         "joined": true,
                     *         "createdByUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "createdByName": "Grace Hopper",
                     *         "agentName": null,
                     *         "leadUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "following": true,
                     *         "evidenceCounts": {
                     *           "supports": 1,
                     *           "contradicts": 0,
                     *           "neutral": 0
                     *         },
                     *         "commentCount": 0,
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "updatedAt": "2026-11-21T03:04:05.678Z"
                     *       },
                     *       "url": "https://app.example.com/w/acme/seeds/01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06"
                     *     }
                     */
                    "application/json": components["schemas"]["AgentSeed"];
                };
            };
            400: components["responses"]["InvalidInput.text_invalid"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.updateSeed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                 *       "status": "validated"
                 *     }
                 */
                "application/json": {
                    /** @description The id of a seed. */
                    seedId: string;
                    /** @description 1 to 120 characters, not blank. White space becomes single spaces. Control characters and invisible formatting are refused. */
                    title?: string;
                    /** @description 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    summary?: string;
                    /** @description Empty, or 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    problem?: string;
                    /** @description Empty, or 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    audience?: string;
                    /** @description Empty, or 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    hypothesis?: string;
                    successCriteria?: string[];
                    /** @enum {string} */
                    status?: "open" | "validating" | "validated" | "dropped";
                    /** @description Empty, or 1 to 300 characters, not blank. White space becomes single spaces. Control characters and invisible formatting are refused. */
                    statusReason?: string;
                    /** @description A participant. */
                    leadUserId?: string;
                };
            };
        };
        responses: {
            /** @description The changed seed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "seed": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "title": "Self-service onboarding",
                     *         "summary": "Let new customers set up their account without a call.",
                     *         "problem": "The first call is ten days away on average.",
                     *         "audience": "Teams of up to ten people.",
                     *         "hypothesis": "Half of them finish the setup without help.",
                     *         "successCriteria": [
                     *           "30 of 60 invited teams finish the setup within a day"
                     *         ],
                     *         "status": "validating",
                     *         "participantCount": 2,
                     *         "joined": true,
                     *         "createdByUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "createdByName": "Grace Hopper",
                     *         "agentName": null,
                     *         "leadUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "following": true,
                     *         "evidenceCounts": {
                     *           "supports": 1,
                     *           "contradicts": 0,
                     *           "neutral": 0
                     *         },
                     *         "commentCount": 0,
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "updatedAt": "2026-11-21T03:04:05.678Z"
                     *       },
                     *       "url": "https://app.example.com/w/acme/seeds/01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06"
                     *     }
                     */
                    "application/json": components["schemas"]["AgentSeed"];
                };
            };
            400: components["responses"]["InvalidInput.lead_invalid.reason_without_status.text_invalid"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.joinSeed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06"
                 *     }
                 */
                "application/json": {
                    /** @description The id of a seed. */
                    seedId: string;
                };
            };
        };
        responses: {
            /** @description The joined seed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "seed": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "title": "Self-service onboarding",
                     *         "summary": "Let new customers set up their account without a call.",
                     *         "problem": "The first call is ten days away on average.",
                     *         "audience": "Teams of up to ten people.",
                     *         "hypothesis": "Half of them finish the setup without help.",
                     *         "successCriteria": [
                     *           "30 of 60 invited teams finish the setup within a day"
                     *         ],
                     *         "status": "validating",
                     *         "participantCount": 2,
                     *         "joined": true,
                     *         "createdByUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "createdByName": "Grace Hopper",
                     *         "agentName": null,
                     *         "leadUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "following": true,
                     *         "evidenceCounts": {
                     *           "supports": 1,
                     *           "contradicts": 0,
                     *           "neutral": 0
                     *         },
                     *         "commentCount": 0,
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "updatedAt": "2026-11-21T03:04:05.678Z"
                     *       },
                     *       "url": "https://app.example.com/w/acme/seeds/01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06"
                     *     }
                     */
                    "application/json": components["schemas"]["AgentSeed"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.seed_closed"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.leaveSeed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06"
                 *     }
                 */
                "application/json": {
                    /** @description The id of a seed. */
                    seedId: string;
                };
            };
        };
        responses: {
            /** @description The seed that was left. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "seed": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "title": "Self-service onboarding",
                     *         "summary": "Let new customers set up their account without a call.",
                     *         "problem": "The first call is ten days away on average.",
                     *         "audience": "Teams of up to ten people.",
                     *         "hypothesis": "Half of them finish the setup without help.",
                     *         "successCriteria": [
                     *           "30 of 60 invited teams finish the setup within a day"
                     *         ],
                     *         "status": "validating",
                     *         "participantCount": 2,
                     *         "joined": true,
                     *         "createdByUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "createdByName": "Grace Hopper",
                     *         "agentName": null,
                     *         "leadUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "following": true,
                     *         "evidenceCounts": {
                     *           "supports": 1,
                     *           "contradicts": 0,
                     *           "neutral": 0
                     *         },
                     *         "commentCount": 0,
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "updatedAt": "2026-11-21T03:04:05.678Z"
                     *       },
                     *       "url": "https://app.example.com/w/acme/seeds/01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06"
                     *     }
                     */
                    "application/json": components["schemas"]["AgentSeed"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.addEvidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                 *       "kind": "experiment",
                 *       "verdict": "supports",
                 *       "summary": "34 of 60 teams finished the setup within a day."
                 *     }
                 */
                "application/json": {
                    /** @description The id of a seed. */
                    seedId: string;
                    /** @enum {string} */
                    kind: "interview" | "survey" | "experiment" | "metric" | "note";
                    /** @enum {string} */
                    verdict: "supports" | "contradicts" | "neutral";
                    /** @description 1 to 4000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    summary: string;
                    /** @description An http or https URL of at most 2048 characters. */
                    sourceUrl?: string;
                };
            };
        };
        responses: {
            /** @description The new evidence. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "evidence": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e02",
                     *         "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "kind": "experiment",
                     *         "verdict": "supports",
                     *         "summary": "34 of 60 teams finished the setup within a day.",
                     *         "sourceUrl": "https://example.com/experiments/12",
                     *         "authorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "authorName": "Grace Hopper",
                     *         "agentName": "Research agent",
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "editedAt": null,
                     *         "withdrawnAt": null,
                     *         "withdrawnByName": null,
                     *         "withdrawnReason": null
                     *       },
                     *       "url": "https://app.example.com/w/acme/seeds/01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06"
                     *     }
                     */
                    "application/json": components["schemas"]["AgentEvidence"];
                };
            };
            400: components["responses"]["InvalidInput.source_url_invalid.text_invalid"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.not_a_participant.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.updateEvidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "evidenceId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e02",
                 *       "verdict": "neutral"
                 *     }
                 */
                "application/json": {
                    /** @description The id of evidence. */
                    evidenceId: string;
                    /** @enum {string} */
                    kind?: "interview" | "survey" | "experiment" | "metric" | "note";
                    /** @enum {string} */
                    verdict?: "supports" | "contradicts" | "neutral";
                    /** @description 1 to 4000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    summary?: string;
                    /** @description Empty, or an http or https URL of at most 2048 characters. */
                    sourceUrl?: string;
                };
            };
        };
        responses: {
            /** @description That it was corrected. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["AgentDone"];
                };
            };
            400: components["responses"]["InvalidInput.source_url_invalid.text_invalid"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.not_the_author.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.evidence_settled"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.withdrawEvidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "evidenceId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e02",
                 *       "reason": "The survey asked the wrong customers."
                 *     }
                 */
                "application/json": {
                    /** @description The id of evidence. */
                    evidenceId: string;
                    /** @description Empty, or 1 to 300 characters, not blank. White space becomes single spaces. Control characters and invisible formatting are refused. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description That it was withdrawn. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["AgentDone"];
                };
            };
            400: components["responses"]["InvalidInput.text_invalid"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.not_the_author.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.addComment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                 *       "body": "Who was asked in the survey?"
                 *     }
                 */
                "application/json": {
                    /** @description The id of a seed. */
                    seedId: string;
                    /** @description 1 to 5000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    body: string;
                    /** @description The id of evidence. */
                    evidenceId?: string;
                };
            };
        };
        responses: {
            /** @description The new comment. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "comment": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0b",
                     *         "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "evidenceId": null,
                     *         "body": "Have we asked [@Grace Hopper](user:01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08)? She ran *three* of these.",
                     *         "mentions": [
                     *           {
                     *             "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *             "name": "Grace Hopper"
                     *           }
                     *         ],
                     *         "authorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e10",
                     *         "authorName": "Ada Lovelace",
                     *         "agentName": null,
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "editedAt": null
                     *       },
                     *       "url": "https://app.example.com/w/acme/seeds/01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06"
                     *     }
                     */
                    "application/json": components["schemas"]["AgentComment"];
                };
            };
            400: components["responses"]["InvalidInput.text_invalid"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.listTeams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "limit": 10
                 *     }
                 */
                "application/json": {
                    /** @description Default 50. */
                    limit?: number;
                    /** @description nextCursor of the previous response, with the same filters. */
                    cursor?: string;
                };
            };
        };
        responses: {
            /** @description A page of teams. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "teams": [
                     *         {
                     *           "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07",
                     *           "name": "Design",
                     *           "memberCount": 3,
                     *           "createdAt": "2026-11-21T03:04:05.678Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["AgentTeams"];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.createTeam": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Design"
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 64 characters, not blank. White space becomes single spaces. Control characters and invisible formatting are refused. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description The new team. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "team": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07",
                     *         "name": "Design",
                     *         "memberCount": 3,
                     *         "createdAt": "2026-11-21T03:04:05.678Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AgentTeam"];
                };
            };
            400: components["responses"]["InvalidInput.label_invalid"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient"];
            409: components["responses"]["Conflict.team_name_taken"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.renameTeam": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "teamId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07",
                 *       "name": "Research"
                 *     }
                 */
                "application/json": {
                    /** @description The id of a team. */
                    teamId: string;
                    /** @description 1 to 64 characters, not blank. White space becomes single spaces. Control characters and invisible formatting are refused. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description That it was renamed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["AgentDone"];
                };
            };
            400: components["responses"]["InvalidInput.label_invalid"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.team_name_taken"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.deleteTeam": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "teamId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07"
                 *     }
                 */
                "application/json": {
                    /** @description The id of a team. */
                    teamId: string;
                };
            };
        };
        responses: {
            /** @description That it was deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["AgentDone"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.addTeamMember": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "teamId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07",
                 *       "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08"
                 *     }
                 */
                "application/json": {
                    /** @description The id of a team. */
                    teamId: string;
                    /** @description The id of a person. */
                    userId: string;
                };
            };
        };
        responses: {
            /** @description That the person was added. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["AgentDone"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.already_team_member"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.removeTeamMember": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "teamId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07",
                 *       "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08"
                 *     }
                 */
                "application/json": {
                    /** @description The id of a team. */
                    teamId: string;
                    /** @description The id of a person. */
                    userId: string;
                };
            };
        };
        responses: {
            /** @description That the person was removed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["AgentDone"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.listInvites": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "limit": 10
                 *     }
                 */
                "application/json": {
                    /** @description Default 50. */
                    limit?: number;
                    /** @description nextCursor of the previous response, with the same filters. */
                    cursor?: string;
                };
            };
        };
        responses: {
            /** @description A page of invites. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "invites": [
                     *         {
                     *           "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e05",
                     *           "email": "ada@example.com",
                     *           "role": "member",
                     *           "status": "pending",
                     *           "invitedByUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *           "invitedByName": "Grace Hopper",
                     *           "createdAt": "2026-11-21T03:04:05.678Z",
                     *           "expiresAt": "2026-11-28T03:04:05.678Z",
                     *           "lastSentAt": null
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["AgentInvites"];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.createInvite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ada@example.com",
                 *       "role": "member"
                 *     }
                 */
                "application/json": {
                    /** @description An email address. */
                    email: string;
                    /** @enum {string} */
                    role: "member" | "viewer";
                    teamIds?: string[];
                };
            };
        };
        responses: {
            /** @description The new invite. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "invite": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e05",
                     *         "email": "ada@example.com",
                     *         "role": "member",
                     *         "status": "pending",
                     *         "invitedByUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "invitedByName": "Grace Hopper",
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "expiresAt": "2026-11-28T03:04:05.678Z",
                     *         "lastSentAt": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AgentInvite"];
                };
            };
            400: components["responses"]["InvalidInput.email_invalid"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient.role_too_high"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.already_invited.already_member"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys.too_many_invites.too_many_invites_to_recipient"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.resendInvite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "inviteId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e05"
                 *     }
                 */
                "application/json": {
                    /** @description The id of an invite. */
                    inviteId: string;
                };
            };
        };
        responses: {
            /** @description The new expiry. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "expiresAt": "2026-11-28T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["AgentInviteSent"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient.role_too_high"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.invite_declined.invite_revoked.invite_used"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys.too_many_invites.too_many_invites_to_recipient"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.updateInvite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "inviteId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e05",
                 *       "role": "viewer"
                 *     }
                 */
                "application/json": {
                    /** @description The id of an invite. */
                    inviteId: string;
                    /** @enum {string} */
                    role: "member" | "viewer";
                };
            };
        };
        responses: {
            /** @description That it was changed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["AgentDone"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient.role_too_high"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.invite_declined.invite_revoked.invite_used"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "agent.revokeInvite": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "inviteId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e05"
                 *     }
                 */
                "application/json": {
                    /** @description The id of an invite. */
                    inviteId: string;
                };
            };
        };
        responses: {
            /** @description That it was revoked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["AgentDone"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.agent_token_required"];
            403: components["responses"]["Forbidden.insufficient_scope.role_insufficient.role_too_high"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.invite_used"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.agent_rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "apiKeys.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The active API keys of the caller. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e01",
                     *         "name": "Deploy script",
                     *         "tokenPrefix": "wsk_4fGh",
                     *         "lastFour": "x7Qz",
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "lastUsedAt": null
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["ApiKey"][];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | components["schemas"]["InvalidInput"];
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Forbidden"];
                };
            };
            /** @description The target does not exist, or the caller may not see it. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFound"];
                };
            };
            /** @description The request conflicts with the current state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "apiKeys.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Deploy script"
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 64 characters, not blank. White space becomes single spaces. Control characters and invisible formatting are refused. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description The new API key with its secret. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e01",
                     *       "name": "Deploy script",
                     *       "tokenPrefix": "wsk_4fGh",
                     *       "lastFour": "x7Qz",
                     *       "secret": "wsk_4fGhJkLmNpQrStUvWxYz23456789Ab00x7Qz"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             *     - `idempotency_key_invalid`: The header `Idempotency-Key` is empty, is longer than 255 characters, or contains characters other than visible ASCII.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                        /** @enum {unknown} */
                        code?: "idempotency_key_invalid";
                    } & components["schemas"]["InvalidInput"]);
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /**
             * @description The caller may not do this.
             *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
             *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
             *     - `key_restricted`: The API key is restricted, and would create a key that may do more, loosen its own restrictions, or manage another key.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Forbidden",
                     *       "code": "key_restricted",
                     *       "message": "This API key is restricted. It can manage only itself, and create only keys with the same restrictions or more.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "key_not_for_workspace" | "key_read_only" | "key_restricted";
                    } & components["schemas"]["Forbidden"];
                };
            };
            /** @description The target does not exist, or the caller may not see it. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFound"];
                };
            };
            /**
             * @description The request conflicts with the current state.
             *     - `api_key_limit`: The caller already has 100 active API keys.
             *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
             *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
             */
            409: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Conflict",
                     *       "code": "api_key_limit",
                     *       "message": "You already have 100 active API keys. Revoke one first.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_limit" | "idempotency_in_flight" | "idempotency_key_reused";
                    } & components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "apiKeys.createRestricted": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Dashboard",
                 *       "expiresAt": "2026-11-28T03:04:05.678Z",
                 *       "access": "read",
                 *       "workspaceIds": [
                 *         "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 64 characters, not blank. White space becomes single spaces. Control characters and invisible formatting are refused. */
                    name: string;
                    /**
                     * Format: date-time
                     * @description When the key stops working, in the future. Null: never. An expired key cannot be used again.
                     */
                    expiresAt: string | null;
                    /**
                     * @description `full`: everything that the owner of the key may do. `read`: only requests by GET and HEAD, which change nothing.
                     * @enum {string}
                     */
                    access: "full" | "read";
                    /** @description The ids of the only workspaces that the key reaches, as far as its owner is a member of them. Null: all of the owner. */
                    workspaceIds: string[] | null;
                };
            };
        };
        responses: {
            /** @description The new API key with its secret. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e01",
                     *       "name": "Deploy script",
                     *       "tokenPrefix": "wsk_4fGh",
                     *       "lastFour": "x7Qz",
                     *       "secret": "wsk_4fGhJkLmNpQrStUvWxYz23456789Ab00x7Qz"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
            400: components["responses"]["InvalidInput.expiry_in_past.idempotency_key_invalid.workspace_not_yours"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.key_restricted"];
            409: components["responses"]["Conflict.api_key_limit.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "apiKeys.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the API key. It is no secret. */
                apiKeyId: components["parameters"]["path.apiKeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The API key. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e01",
                     *       "name": "Deploy script",
                     *       "tokenPrefix": "wsk_4fGh",
                     *       "lastFour": "x7Qz",
                     *       "createdAt": "2026-11-21T03:04:05.678Z",
                     *       "lastUsedAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_restricted"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "apiKeys.restrictions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the API key. It is no secret. */
                apiKeyId: components["parameters"]["path.apiKeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The restrictions of the API key. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "expiresAt": "2026-11-28T03:04:05.678Z",
                     *       "access": "read",
                     *       "workspaceIds": [
                     *         "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyRestrictions"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_restricted"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "apiKeys.restrict": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the API key. It is no secret. */
                apiKeyId: components["parameters"]["path.apiKeyId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "expiresAt": "2026-11-28T03:04:05.678Z",
                 *       "access": "read",
                 *       "workspaceIds": [
                 *         "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: date-time
                     * @description When the key stops working, in the future. Null: never. An expired key cannot be used again.
                     */
                    expiresAt: string | null;
                    /**
                     * @description `full`: everything that the owner of the key may do. `read`: only requests by GET and HEAD, which change nothing.
                     * @enum {string}
                     */
                    access: "full" | "read";
                    /** @description The ids of the only workspaces that the key reaches, as far as its owner is a member of them. Null: all of the owner. */
                    workspaceIds: string[] | null;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.expiry_in_past.workspace_not_yours"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.key_restricted"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "apiKeys.rotate": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The id of the API key. It is no secret. */
                apiKeyId: components["parameters"]["path.apiKeyId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlapSeconds": 3600
                 *     }
                 */
                "application/json": {
                    /** @description How long the old key works on, in seconds. 0: it is revoked at once. Default: 86400. */
                    overlapSeconds?: number;
                };
            };
        };
        responses: {
            /** @description The new API key with its secret. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e01",
                     *       "name": "Deploy script",
                     *       "tokenPrefix": "wsk_4fGh",
                     *       "lastFour": "x7Qz",
                     *       "secret": "wsk_4fGhJkLmNpQrStUvWxYz23456789Ab00x7Qz"
                     *     }
                     */
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_read_only.key_restricted"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.api_key_limit.idempotency_in_flight.idempotency_key_reused.key_rotated"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "apiKeys.revoke": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the API key. It is no secret. */
                apiKeyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             *     - `idempotency_key_invalid`: The header `Idempotency-Key` is empty, is longer than 255 characters, or contains characters other than visible ASCII.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                        /** @enum {unknown} */
                        code?: "idempotency_key_invalid";
                    } & components["schemas"]["InvalidInput"]);
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /**
             * @description The caller may not do this.
             *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
             *     - `key_restricted`: The API key is restricted, and would create a key that may do more, loosen its own restrictions, or manage another key.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Forbidden",
                     *       "code": "key_restricted",
                     *       "message": "This API key is restricted. It can manage only itself, and create only keys with the same restrictions or more.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "key_read_only" | "key_restricted";
                    } & components["schemas"]["Forbidden"];
                };
            };
            /**
             * @description The target does not exist, or the caller may not see it.
             *     - `not_found`: An id or slug in the request does not exist, or the caller may not see what it names. The two cases get the same response.
             */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "not_found";
                    } & components["schemas"]["NotFound"];
                };
            };
            /**
             * @description The request conflicts with the current state.
             *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
             *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
             */
            409: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Conflict",
                     *       "code": "idempotency_in_flight",
                     *       "message": "The first request with this Idempotency-Key is still running.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "idempotency_in_flight" | "idempotency_key_reused";
                    } & components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.profile": {
        parameters: {
            query?: never;
            header?: {
                /** @description The tags that the client has, or `*`. If the current one is among them, the response is 304. */
                "If-None-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The profile of the caller. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *       "name": "Grace Hopper",
                     *       "email": "grace@example.com",
                     *       "image": "https://api.example.com/pictures/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4.webp"
                     *     }
                     */
                    "application/json": components["schemas"]["Profile"];
                };
            };
            /** @description The client has the current response, by a tag in `If-None-Match`. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | components["schemas"]["InvalidInput"];
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Forbidden"];
                };
            };
            /** @description The target does not exist, or the caller may not see it. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFound"];
                };
            };
            /** @description The request conflicts with the current state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.updateProfile": {
        parameters: {
            query?: never;
            header?: {
                /** @description A tag that the client has read, several, or `*`. If what the request changes has the version of none of them, nothing is changed, and the response is 412. */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Grace Hopper"
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 100 characters, not blank. White space becomes single spaces. Control characters, invisible formatting and web addresses (`://`, `www.`, or a domain followed by `/`) are refused. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | components["schemas"]["InvalidInput"];
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /**
             * @description The caller may not do this.
             *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
             *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Forbidden",
                     *       "code": "key_not_for_workspace",
                     *       "message": "This API key is bound to other workspaces.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "key_not_for_workspace" | "key_read_only";
                    } & components["schemas"]["Forbidden"];
                };
            };
            /** @description The target does not exist, or the caller may not see it. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFound"];
                };
            };
            /** @description The request conflicts with the current state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conflict"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The notification preferences of the caller. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *       "productUpdates": false,
                     *       "workspaceActivity": true
                     *     }
                     */
                    "application/json": components["schemas"]["Preferences"];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | components["schemas"]["InvalidInput"];
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /**
             * @description The caller may not do this.
             *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Forbidden",
                     *       "code": "key_not_for_workspace",
                     *       "message": "This API key is bound to other workspaces.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "key_not_for_workspace";
                    } & components["schemas"]["Forbidden"];
                };
            };
            /**
             * @description The target does not exist, or the caller may not see it.
             *     - `not_found`: An id or slug in the request does not exist, or the caller may not see what it names. The two cases get the same response.
             */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "not_found";
                    } & components["schemas"]["NotFound"];
                };
            };
            /** @description The request conflicts with the current state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.updatePreferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "productUpdates": false,
                 *       "workspaceActivity": true
                 *     }
                 */
                "application/json": {
                    /** @description Whether to send news about the product by email. */
                    productUpdates: boolean;
                    /** @description Whether to send mentions, a daily digest of other notifications, changes of role and accepted invites by email. */
                    workspaceActivity: boolean;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | components["schemas"]["InvalidInput"];
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /**
             * @description The caller may not do this.
             *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
             *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Forbidden",
                     *       "code": "key_not_for_workspace",
                     *       "message": "This API key is bound to other workspaces.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "key_not_for_workspace" | "key_read_only";
                    } & components["schemas"]["Forbidden"];
                };
            };
            /** @description The target does not exist, or the caller may not see it. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFound"];
                };
            };
            /** @description The request conflicts with the current state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.home": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A path of the website, as a JSON string. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /** @example /w/acme */
                    "application/json": string;
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | components["schemas"]["InvalidInput"];
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Forbidden"];
                };
            };
            /** @description The target does not exist, or the caller may not see it. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFound"];
                };
            };
            /** @description The request conflicts with the current state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.onboarding": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workspace that the caller used last, if any. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "existing": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09",
                     *         "name": "Acme",
                     *         "slug": "acme",
                     *         "iconUrl": "https://api.example.com/pictures/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4.webp",
                     *         "role": "owner"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Onboarding"];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | components["schemas"]["InvalidInput"];
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Forbidden"];
                };
            };
            /** @description The target does not exist, or the caller may not see it. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFound"];
                };
            };
            /** @description The request conflicts with the current state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.uploadPhoto": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description The only file of the form. Any field name is accepted.
                     */
                    file: Blob | File;
                };
            };
        };
        responses: {
            /** @description The URL of the new profile photo. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "image": "https://api.example.com/pictures/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4.webp"
                     *     }
                     */
                    "application/json": components["schemas"]["PhotoUpload"];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             *     - `file_missing`: The form of an upload contains no file.
             *     - `file_not_alone`: The form of an upload contains more than one file, or too many other fields.
             *     - `idempotency_key_invalid`: The header `Idempotency-Key` is empty, is longer than 255 characters, or contains characters other than visible ASCII.
             *     - `image_invalid`: The content of the uploaded file is not a PNG, JPEG, WebP or GIF image. The file name does not matter.
             *     - `image_too_large`: The uploaded image has more than 25 megapixels.
             *     - `image_too_slow`: Decoding the uploaded image took longer than 10 seconds.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                        /** @enum {unknown} */
                        code?: "file_missing" | "file_not_alone" | "idempotency_key_invalid" | "image_invalid" | "image_too_large" | "image_too_slow";
                    } & components["schemas"]["InvalidInput"]);
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /**
             * @description The caller may not do this.
             *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
             *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Forbidden",
                     *       "code": "key_not_for_workspace",
                     *       "message": "This API key is bound to other workspaces.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "key_not_for_workspace" | "key_read_only";
                    } & components["schemas"]["Forbidden"];
                };
            };
            /** @description The target does not exist, or the caller may not see it. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFound"];
                };
            };
            /**
             * @description The request conflicts with the current state.
             *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
             *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
             */
            409: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Conflict",
                     *       "code": "idempotency_in_flight",
                     *       "message": "The first request with this Idempotency-Key is still running.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "idempotency_in_flight" | "idempotency_key_reused";
                    } & components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys.too_many_uploads"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded.storage_unavailable.uploads_busy"];
        };
    };
    "me.removePhoto": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "confirmEmail": "grace@example.com"
                 *     }
                 */
                "application/json": {
                    /** @description The email address of the caller. */
                    confirmEmail: string;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.confirmation_mismatch.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.recent_proof_required"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.last_owner"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Everything that is the caller's. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "profile": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "name": "Grace Hopper",
                     *         "email": "grace@example.com",
                     *         "emailVerifiedAt": "2026-11-21T03:04:05.678Z",
                     *         "image": "https://api.example.com/pictures/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4.webp",
                     *         "productUpdates": false,
                     *         "workspaceActivity": true,
                     *         "createdAt": "2026-11-21T03:04:05.678Z"
                     *       },
                     *       "formerEmails": [],
                     *       "apiKeys": [],
                     *       "sessions": [],
                     *       "passkeys": [],
                     *       "identities": [],
                     *       "workspaces": [
                     *         {
                     *           "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09",
                     *           "name": "Acme",
                     *           "slug": "acme",
                     *           "role": "owner",
                     *           "joinedAt": "2026-11-21T03:04:05.678Z"
                     *         }
                     *       ],
                     *       "teams": [],
                     *       "agents": [],
                     *       "invites": [],
                     *       "seeds": [],
                     *       "evidence": [],
                     *       "comments": [],
                     *       "participations": [],
                     *       "follows": [],
                     *       "notifications": [],
                     *       "events": []
                     *     }
                     */
                    "application/json": components["schemas"]["PersonExport"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.recent_proof_required"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.listInvites": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of invites. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e05",
                     *         "workspaceName": "Acme",
                     *         "workspaceSlug": "acme",
                     *         "workspaceIconUrl": "https://api.example.com/pictures/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4.webp",
                     *         "role": "member",
                     *         "invitedByName": "Grace Hopper",
                     *         "expiresAt": "2026-11-28T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["OwnInvite"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.acceptInvite": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The id of the invite. */
                inviteId: components["parameters"]["path.inviteId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workspace that the caller has joined, and the role in it. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "workspaceId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09",
                     *       "slug": "acme",
                     *       "role": "member"
                     *     }
                     */
                    "application/json": components["schemas"]["InviteAcceptance"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.invite_declined.invite_expired.invite_revoked.invite_used.workspace_limit"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.declineInvite": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The id of the invite. */
                inviteId: components["parameters"]["path.inviteId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.invite_expired.invite_revoked.invite_used"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.listOffers": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of workspaces. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "workspaceId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09",
                     *         "workspaceName": "Acme",
                     *         "workspaceSlug": "acme",
                     *         "workspaceIconUrl": "https://api.example.com/pictures/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4.webp",
                     *         "memberCount": 12
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["WorkspaceOffer"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.acceptOffer": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The id of the workspace. */
                workspaceId: components["parameters"]["path.workspaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.workspace_limit"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "me.declineOffer": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The id of the workspace. */
                workspaceId: components["parameters"]["path.workspaceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "notifications.list": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
                /** @description Only notifications that the caller has not read, or only those read. */
                unread?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of notifications. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e03",
                     *         "kind": "mention",
                     *         "workspaceSlug": "acme",
                     *         "workspaceName": "Acme",
                     *         "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "seedTitle": "Self-service onboarding",
                     *         "actorName": "Grace Hopper",
                     *         "agentName": null,
                     *         "text": "Grace Hopper mentioned you in Self-service onboarding",
                     *         "path": "/w/acme/seeds/01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "readAt": null
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Notification"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "notifications.count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number of unread notifications. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "unread": 3
                     *     }
                     */
                    "application/json": components["schemas"]["NotificationCount"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "notifications.markRead": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ids": [
                 *         "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e03"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The ids of the notifications. */
                    ids?: string[];
                    /**
                     * Format: date-time
                     * @description The `createdAt` of the newest notification that is to be marked: that one, and all older ones.
                     * @example 2026-11-21T03:04:05.678Z
                     */
                    until?: string;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_read_only"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "workspaces.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workspaces of the caller. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09",
                     *         "name": "Acme",
                     *         "slug": "acme",
                     *         "iconUrl": "https://api.example.com/pictures/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4.webp",
                     *         "role": "owner"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["WorkspaceMembership"][];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | components["schemas"]["InvalidInput"];
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /** @description The caller may not do this. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Forbidden"];
                };
            };
            /** @description The target does not exist, or the caller may not see it. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFound"];
                };
            };
            /** @description The request conflicts with the current state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "workspaces.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Acme",
                 *       "slug": "acme"
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 100 characters, not blank. White space becomes single spaces. Control characters, invisible formatting and web addresses (`://`, `www.`, or a domain followed by `/`) are refused. */
                    name: string;
                    /** @description 3 to 48 characters: a-z, 0-9, and single hyphens between them. */
                    slug: string;
                };
            };
        };
        responses: {
            /** @description The new workspace. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "workspace": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09",
                     *         "name": "Acme",
                     *         "slug": "acme",
                     *         "creatorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WorkspaceCreation"];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             *     - `idempotency_key_invalid`: The header `Idempotency-Key` is empty, is longer than 255 characters, or contains characters other than visible ASCII.
             *     - `slug_reserved`: The slug is reserved for the service itself.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                        /** @enum {unknown} */
                        code?: "idempotency_key_invalid" | "slug_reserved";
                    } & components["schemas"]["InvalidInput"]);
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /**
             * @description The caller may not do this.
             *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
             *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
             *     - `workspace_creation_disabled`: The caller would create a workspace, and `WORKSPACE_CREATION=nobody` lets only operators do that.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Forbidden",
                     *       "code": "workspace_creation_disabled",
                     *       "message": "Only the people who run this service create workspaces. Ask them for one.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "key_not_for_workspace" | "key_read_only" | "workspace_creation_disabled";
                    } & components["schemas"]["Forbidden"];
                };
            };
            /** @description The target does not exist, or the caller may not see it. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFound"];
                };
            };
            /**
             * @description The request conflicts with the current state.
             *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
             *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
             *     - `slug_taken`: Another workspace has the slug, or used it within the last 90 days.
             *     - `workspace_limit`: The caller creates a workspace or accepts an invite, but is already a member of the maximum number of workspaces.
             */
            409: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "idempotency_in_flight" | "idempotency_key_reused" | "slug_taken" | "workspace_limit";
                    } & components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "workspaces.slugAvailable": {
        parameters: {
            query?: {
                /** @description A workspace of the caller. Its own slugs, current and former, count as available. */
                excludeWorkspaceId?: string;
            };
            header?: never;
            path: {
                /** @description The slug to check. */
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the slug is available. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "available": true
                     *     }
                     */
                    "application/json": components["schemas"]["SlugAvailability"];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | components["schemas"]["InvalidInput"];
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /**
             * @description The caller may not do this.
             *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Forbidden",
                     *       "code": "key_not_for_workspace",
                     *       "message": "This API key is bound to other workspaces.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "key_not_for_workspace";
                    } & components["schemas"]["Forbidden"];
                };
            };
            /** @description The target does not exist, or the caller may not see it. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotFound"];
                };
            };
            /** @description The request conflicts with the current state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "workspaces.get": {
        parameters: {
            query?: never;
            header?: {
                /** @description The tags that the client has, or `*`. If the current one is among them, the response is 304. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workspace. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *       "workspaceId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09",
                     *       "name": "Acme",
                     *       "slug": "acme",
                     *       "iconUrl": "https://api.example.com/pictures/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4.webp",
                     *       "allowedDomains": [
                     *         "example.com"
                     *       ],
                     *       "role": "owner"
                     *     }
                     */
                    "application/json": components["schemas"]["WorkspaceDetail"];
                };
            };
            /** @description The client has the current response, by a tag in `If-None-Match`. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | components["schemas"]["InvalidInput"];
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /**
             * @description The caller may not do this.
             *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
             *     - `not_a_member`: The workspace exists, but the caller is not a member of it.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Forbidden",
                     *       "code": "not_a_member",
                     *       "message": "You are not a member of this workspace.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "key_not_for_workspace" | "not_a_member";
                    } & components["schemas"]["Forbidden"];
                };
            };
            /**
             * @description The target does not exist, or the caller may not see it.
             *     - `not_found`: An id or slug in the request does not exist, or the caller may not see what it names. The two cases get the same response.
             */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "not_found";
                    } & components["schemas"]["NotFound"];
                };
            };
            /** @description The request conflicts with the current state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "workspaces.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description A tag that the client has read, several, or `*`. If what the request changes has the version of none of them, nothing is changed, and the response is 412. */
                "If-Match"?: string;
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Acme",
                 *       "slug": "acme",
                 *       "allowedDomains": "example.com, example.org"
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 100 characters, not blank. White space becomes single spaces. Control characters, invisible formatting and web addresses (`://`, `www.`, or a domain followed by `/`) are refused. */
                    name: string;
                    /** @description 3 to 48 characters: a-z, 0-9, and single hyphens between them. */
                    slug: string;
                    /** @description Up to 10 email domains, separated by commas or white space. People with a verified address at one of them can join the workspace. Absent: unchanged. Empty: none. You can add the domain of your own verified address; public mail services are refused. */
                    allowedDomains?: string;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             *     - `domain_invalid`: `allowedDomains` contains a value that is not an email domain.
             *     - `domain_limit`: `allowedDomains` contains more than 10 domains.
             *     - `domain_not_yours`: `allowedDomains` adds a domain other than that of the caller's own verified email address. Domains that the workspace already allows may stay.
             *     - `domain_public`: `allowedDomains` contains the domain of a public email service, such as gmail.com.
             *     - `slug_reserved`: The slug is reserved for the service itself.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                        /** @enum {unknown} */
                        code?: "domain_invalid" | "domain_limit" | "domain_not_yours" | "domain_public" | "slug_reserved";
                    } & components["schemas"]["InvalidInput"]);
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /**
             * @description The caller may not do this.
             *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
             *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
             *     - `not_a_member`: The workspace exists, but the caller is not a member of it.
             *     - `role_insufficient`: The caller's role in the workspace does not allow the operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "key_not_for_workspace" | "key_read_only" | "not_a_member" | "role_insufficient";
                    } & components["schemas"]["Forbidden"];
                };
            };
            /**
             * @description The target does not exist, or the caller may not see it.
             *     - `not_found`: An id or slug in the request does not exist, or the caller may not see what it names. The two cases get the same response.
             */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "not_found";
                    } & components["schemas"]["NotFound"];
                };
            };
            /**
             * @description The request conflicts with the current state.
             *     - `slug_taken`: Another workspace has the slug, or used it within the last 90 days.
             */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "slug_taken";
                    } & components["schemas"]["Conflict"];
                };
            };
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "workspaces.transferOwnership": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08"
                 *     }
                 */
                "application/json": {
                    /** @description The id of the member. */
                    userId: string;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "workspaces.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "confirmSlug": "acme"
                 *     }
                 */
                "application/json": {
                    /** @description The current slug of the workspace. */
                    confirmSlug: string;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.confirmation_mismatch.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "workspaces.export": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The lines. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {"kind":"team","data":{"id":"01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07","name":"Research","createdAt":"2026-11-21T03:04:05.678Z"}}
                     *     {"kind":"end","data":{"count":1}}
                     */
                    "application/x-ndjson": string;
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.export_in_progress"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "workspaces.uploadIcon": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description The only file of the form. Any field name is accepted.
                     */
                    file: Blob | File;
                };
            };
        };
        responses: {
            /** @description The URL of the new icon. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "iconUrl": "https://api.example.com/pictures/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4.webp"
                     *     }
                     */
                    "application/json": components["schemas"]["IconUpload"];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             *     - `file_missing`: The form of an upload contains no file.
             *     - `file_not_alone`: The form of an upload contains more than one file, or too many other fields.
             *     - `idempotency_key_invalid`: The header `Idempotency-Key` is empty, is longer than 255 characters, or contains characters other than visible ASCII.
             *     - `image_invalid`: The content of the uploaded file is not a PNG, JPEG, WebP or GIF image. The file name does not matter.
             *     - `image_too_large`: The uploaded image has more than 25 megapixels.
             *     - `image_too_slow`: Decoding the uploaded image took longer than 10 seconds.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | ({
                        /** @enum {unknown} */
                        code?: "file_missing" | "file_not_alone" | "idempotency_key_invalid" | "image_invalid" | "image_too_large" | "image_too_slow";
                    } & components["schemas"]["InvalidInput"]);
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /**
             * @description The caller may not do this.
             *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
             *     - `key_read_only`: The API key was restricted to reading, and the method of the request is not GET or HEAD.
             *     - `not_a_member`: The workspace exists, but the caller is not a member of it.
             *     - `role_insufficient`: The caller's role in the workspace does not allow the operation.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "key_not_for_workspace" | "key_read_only" | "not_a_member" | "role_insufficient";
                    } & components["schemas"]["Forbidden"];
                };
            };
            /**
             * @description The target does not exist, or the caller may not see it.
             *     - `not_found`: An id or slug in the request does not exist, or the caller may not see what it names. The two cases get the same response.
             */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "not_found";
                    } & components["schemas"]["NotFound"];
                };
            };
            /**
             * @description The request conflicts with the current state.
             *     - `idempotency_in_flight`: The first request with this `Idempotency-Key` is still running. Retry after `Retry-After` seconds.
             *     - `idempotency_key_reused`: The `Idempotency-Key` was used within the last 24 hours with another method, URL or body.
             */
            409: {
                headers: {
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Conflict",
                     *       "code": "idempotency_in_flight",
                     *       "message": "The first request with this Idempotency-Key is still running.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "idempotency_in_flight" | "idempotency_key_reused";
                    } & components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys.too_many_uploads"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded.storage_unavailable.uploads_busy"];
        };
    };
    "workspaces.removeIcon": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "workspaces.slugAvailability": {
        parameters: {
            query?: {
                /** @description The slug to check. Default: the current slug of the workspace. */
                slug?: string;
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the workspace could take the slug. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "available": true
                     *     }
                     */
                    "application/json": components["schemas"]["SlugAvailability"];
                };
            };
            /**
             * @description The request is malformed or its input is invalid.
             *     - `decode_error`: The path, query, headers or body do not match the operation's schema, or the body is not JSON or not UTF-8. `issues` lists the violations, 100 at most.
             */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpApiDecodeError"] | components["schemas"]["InvalidInput"];
                };
            };
            /**
             * @description A valid credential is required.
             *     - `api_key_required`: The request has no API key, or the key is unknown, malformed, expired or revoked, or the two headers contain different keys.
             */
            401: {
                headers: {
                    "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "api_key_required";
                    } & components["schemas"]["Unauthorized"];
                };
            };
            /**
             * @description The caller may not do this.
             *     - `key_not_for_workspace`: The API key is bound to workspaces, and the request concerns another workspace, or none and is not one of the few that such a key may make.
             *     - `not_a_member`: The workspace exists, but the caller is not a member of it.
             */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "_tag": "Forbidden",
                     *       "code": "not_a_member",
                     *       "message": "You are not a member of this workspace.",
                     *       "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
                     *     }
                     */
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "key_not_for_workspace" | "not_a_member";
                    } & components["schemas"]["Forbidden"];
                };
            };
            /**
             * @description The target does not exist, or the caller may not see it.
             *     - `not_found`: An id or slug in the request does not exist, or the caller may not see what it names. The two cases get the same response.
             */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        code?: "not_found";
                    } & components["schemas"]["NotFound"];
                };
            };
            /** @description The request conflicts with the current state. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conflict"];
                };
            };
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            /**
             * @description The service failed.
             *     - `internal`: The service failed. Its log has the details under the request id.
             */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Internal"];
                };
            };
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "workspaces.search": {
        parameters: {
            query: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
                /** @description What to look for: all of its words, or words that begin with them. Case and accents do not matter. Text without a letter or a digit finds nothing. */
                q: components["parameters"]["query.q"];
                /**
                 * @description Only these kinds, separated by commas: `seed`, `evidence`, `comment`, `person`, `team`.
                 * @example seed,evidence
                 */
                kinds?: string;
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of results. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "kind": "evidence",
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e02",
                     *         "title": "Self-service onboarding",
                     *         "excerpt": "Seven of ten neighbours own a drill that they used once.",
                     *         "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "path": "/w/acme/seeds/01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06#evidence-01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e02"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["SearchResult"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "workspaces.searchCounts": {
        parameters: {
            query: {
                /** @description What to look for: all of its words, or words that begin with them. Case and accents do not matter. Text without a letter or a digit finds nothing. */
                q: components["parameters"]["query.q"];
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The numbers by kind. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "seeds": 24,
                     *       "evidence": 112,
                     *       "comments": 7,
                     *       "people": 0,
                     *       "teams": 1
                     *     }
                     */
                    "application/json": components["schemas"]["SearchCounts"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "members.list": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of members. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "name": "Grace Hopper",
                     *         "email": "grace@example.com",
                     *         "image": null,
                     *         "role": "admin",
                     *         "joinedAt": "2026-11-21T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Member"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "members.remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the person. */
                userId: components["parameters"]["path.userId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient.role_too_high"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.last_owner"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "members.updateRole": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the person. */
                userId: components["parameters"]["path.userId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "role": "member"
                 *     }
                 */
                "application/json": {
                    role: components["schemas"]["Role"];
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient.role_too_high"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.last_owner"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "invites.list": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of open invites. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e05",
                     *         "email": "ada@example.com",
                     *         "role": "member",
                     *         "status": "pending",
                     *         "invitedByUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "invitedByName": "Grace Hopper",
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "expiresAt": "2026-11-28T03:04:05.678Z",
                     *         "lastSentAt": null
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Invite"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "invites.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ada@example.com",
                 *       "role": "member",
                 *       "teamIds": [
                 *         "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description The email address to send the invite to. Its domain may be in any script. */
                    email: string;
                    role: components["schemas"]["Role"];
                    /** @description The ids of the teams that the person joins with the workspace. */
                    teamIds?: string[];
                };
            };
        };
        responses: {
            /** @description The new invite with its link. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "invite": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e05",
                     *         "email": "ada@example.com",
                     *         "role": "member",
                     *         "status": "pending",
                     *         "invitedByUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "invitedByName": "Grace Hopper",
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "expiresAt": "2026-11-28T03:04:05.678Z",
                     *         "lastSentAt": null
                     *       },
                     *       "inviteUrl": "https://app.example.com/invites/3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                     *     }
                     */
                    "application/json": components["schemas"]["InviteCreation"];
                };
            };
            400: components["responses"]["InvalidInput.email_invalid.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient.role_too_high"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.already_invited.already_member.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys.too_many_invites.too_many_invites_to_recipient"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "invites.resend": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the invite. */
                inviteId: components["parameters"]["path.inviteId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The new link and its expiry. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "inviteUrl": "https://app.example.com/invites/3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                     *       "expiresAt": "2026-11-28T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["InviteResending"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient.role_too_high"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.invite_declined.invite_revoked.invite_used"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys.too_many_invites.too_many_invites_to_recipient"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "invites.revoke": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the invite. */
                inviteId: components["parameters"]["path.inviteId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient.role_too_high"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.invite_used"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "invites.updateRole": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the invite. */
                inviteId: components["parameters"]["path.inviteId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "role": "viewer"
                 *     }
                 */
                "application/json": {
                    role: components["schemas"]["Role"];
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient.role_too_high"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.invite_declined.invite_revoked.invite_used"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "invites.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The token of the invite: the last part of its link. */
                token: components["parameters"]["path.token"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The invite, as its recipient sees it. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "workspaceName": "Acme",
                     *       "workspaceSlug": "acme",
                     *       "workspaceIconUrl": "https://api.example.com/pictures/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4.webp",
                     *       "email": "ada@example.com",
                     *       "role": "member",
                     *       "status": "pending",
                     *       "invitedByName": "Grace Hopper",
                     *       "expiresAt": "2026-11-28T03:04:05.678Z",
                     *       "emailMatches": true
                     *     }
                     */
                    "application/json": components["schemas"]["InvitePreview"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "invites.accept": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The token of the invite: the last part of its link. */
                token: components["parameters"]["path.token"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workspace that the caller has joined, and the role in it. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "workspaceId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09",
                     *       "slug": "acme",
                     *       "role": "member"
                     *     }
                     */
                    "application/json": components["schemas"]["InviteAcceptance"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.email_unverified.invite_email_mismatch.key_not_for_workspace.key_read_only"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.invite_declined.invite_expired.invite_revoked.invite_used.workspace_limit"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "invites.decline": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The token of the invite: the last part of its link. */
                token: components["parameters"]["path.token"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.email_unverified.invite_email_mismatch.key_not_for_workspace.key_read_only"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.invite_expired.invite_revoked.invite_used"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "teams.list": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of teams. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07",
                     *         "name": "Design",
                     *         "memberCount": 3,
                     *         "createdAt": "2026-11-21T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Team"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "teams.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Design"
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 64 characters, not blank. White space becomes single spaces. Control characters and invisible formatting are refused. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description The new team. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "team": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07",
                     *         "name": "Design",
                     *         "memberCount": 0,
                     *         "createdAt": "2026-11-21T03:04:05.678Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TeamCreation"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.team_name_taken"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "teams.get": {
        parameters: {
            query?: never;
            header?: {
                /** @description The tags that the client has, or `*`. If the current one is among them, the response is 304. */
                "If-None-Match"?: components["parameters"]["header.If-None-Match"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the team. */
                teamId: components["parameters"]["path.teamId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The team. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07",
                     *       "name": "Design",
                     *       "memberCount": 3,
                     *       "createdAt": "2026-11-21T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Team"];
                };
            };
            /** @description The client has the current response, by a tag in `If-None-Match`. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "teams.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the team. */
                teamId: components["parameters"]["path.teamId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "teams.rename": {
        parameters: {
            query?: never;
            header?: {
                /** @description A tag that the client has read, several, or `*`. If what the request changes has the version of none of them, nothing is changed, and the response is 412. */
                "If-Match"?: components["parameters"]["header.If-Match"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the team. */
                teamId: components["parameters"]["path.teamId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Design"
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 64 characters, not blank. White space becomes single spaces. Control characters and invisible formatting are refused. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.team_name_taken"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "teams.listMembers": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the team. */
                teamId: components["parameters"]["path.teamId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of team members. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "name": "Grace Hopper",
                     *         "image": null,
                     *         "addedAt": "2026-11-21T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["TeamMember"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "teams.addMember": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the team. */
                teamId: components["parameters"]["path.teamId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08"
                 *     }
                 */
                "application/json": {
                    /** @description The id of a member of the workspace. */
                    userId: string;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.already_team_member.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "teams.removeMember": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the team. */
                teamId: components["parameters"]["path.teamId"];
                /** @description The id of the person. */
                userId: components["parameters"]["path.userId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "events.list": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
                /** @description Only events of this type. */
                type?: string;
                /** @description Only events of these types. Repeat the parameter, or separate them by commas. A type that does not exist is refused. */
                types?: components["parameters"]["query.types"];
                /** @description No events of these types. One that does not exist is ignored: it may be of a later version. */
                notTypes?: components["parameters"]["query.notTypes"];
                /** @description Only events about this seed, those of its evidence included. */
                seedId?: components["parameters"]["query.seedId"];
                /** @description Only events of this agent: with this `grantId`. */
                grantId?: components["parameters"]["query.grantId"];
                /** @description Only events of this person. */
                actorUserId?: string;
                /** @description Only events with this `targetId`. */
                targetId?: string;
                /**
                 * @description Only events at or after this time. A date without a time is its start in UTC.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                since?: string | unknown | unknown;
                /**
                 * @description Only events before this time. A date without a time is its start in UTC.
                 * @example 2026-11-21T03:04:05.678Z
                 */
                until?: string | unknown | unknown;
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e03",
                     *         "type": "seed.created",
                     *         "actorType": "user",
                     *         "actorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "actorName": "Grace Hopper",
                     *         "grantId": null,
                     *         "apiKeyId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e01",
                     *         "source": "api",
                     *         "targetType": "seed",
                     *         "targetId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "summary": "Grace Hopper created the seed Self-service onboarding",
                     *         "data": {
                     *           "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *           "title": "Self-service onboarding"
                     *         },
                     *         "createdAt": "2026-11-21T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Event"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid.event_type_unknown"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "events.changes": {
        parameters: {
            query?: {
                /** @description Only events behind this cursor, from an earlier response; `now`: only those that happen from now on. By default from the first event of the workspace. */
                after?: components["parameters"]["query.after"];
                /** @description Only events of these types. Repeat the parameter, or separate them by commas. A type that does not exist is refused. */
                types?: components["parameters"]["query.types"];
                /** @description No events of these types. One that does not exist is ignored: it may be of a later version. */
                notTypes?: components["parameters"]["query.notTypes"];
                /** @description Only events about this seed, those of its evidence included. */
                seedId?: components["parameters"]["query.seedId"];
                /** @description Only events of this agent: with this `grantId`. */
                grantId?: components["parameters"]["query.grantId"];
                /** @description The most events of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events behind the cursor, and the cursor of the next page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e03",
                     *           "type": "seed.created",
                     *           "actorType": "user",
                     *           "actorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *           "actorName": "Grace Hopper",
                     *           "grantId": null,
                     *           "apiKeyId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e01",
                     *           "source": "api",
                     *           "targetType": "seed",
                     *           "targetId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *           "summary": "Grace Hopper created the seed Self-service onboarding",
                     *           "data": {
                     *             "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *             "title": "Self-service onboarding"
                     *           },
                     *           "createdAt": "2026-11-21T03:04:05.678Z"
                     *         }
                     *       ],
                     *       "cursor": "q2nVvN0o5zRbIjQyIiwiMDE5MzZmMmUtN2MxYS03ZDNlLThiNTItMGY0YzZhOWQxZTAzIl0",
                     *       "hasMore": false
                     *     }
                     */
                    "application/json": components["schemas"]["EventChanges"];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid.event_type_unknown"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.cursor_unknown"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "events.stream": {
        parameters: {
            query?: {
                /** @description Only events behind this cursor, from an earlier response; `now`: only those that happen from now on. By default from the first event of the workspace. */
                after?: components["parameters"]["query.after"];
                /** @description Only events of these types. Repeat the parameter, or separate them by commas. A type that does not exist is refused. */
                types?: components["parameters"]["query.types"];
                /** @description No events of these types. One that does not exist is ignored: it may be of a later version. */
                notTypes?: components["parameters"]["query.notTypes"];
                /** @description Only events about this seed, those of its evidence included. */
                seedId?: components["parameters"]["query.seedId"];
                /** @description Only events of this agent: with this `grantId`. */
                grantId?: components["parameters"]["query.grantId"];
            };
            header?: {
                /** @description The `id` of the last event that was received. Takes precedence over `after`. */
                "Last-Event-ID"?: string;
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream of events, with a comment every 15 seconds. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example retry: 1500
                     *
                     *     id: q2nVvN0o5zRbIjQyIiwiMDE5MzZmMmUtN2MxYS03ZDNlLThiNTItMGY0YzZhOWQxZTAzIl0
                     *     data: {"id":"01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e03","type":"seed.created","actorType":"user","actorUserId":"01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08","actorName":"Grace Hopper","grantId":null,"apiKeyId":"01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e01","source":"api","targetType":"seed","targetId":"01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06","summary":"Grace Hopper created the seed Self-service onboarding","data":{"seedId":"01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06","title":"Self-service onboarding"},"createdAt":"2026-11-21T03:04:05.678Z"}
                     *
                     *     :
                     */
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid.event_type_unknown"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.cursor_unknown"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys.too_many_streams"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "events.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the event. */
                eventId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e03",
                     *       "type": "seed.created",
                     *       "actorType": "user",
                     *       "actorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *       "actorName": "Grace Hopper",
                     *       "grantId": null,
                     *       "apiKeyId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e01",
                     *       "source": "api",
                     *       "targetType": "seed",
                     *       "targetId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *       "summary": "Grace Hopper created the seed Self-service onboarding",
                     *       "data": {
                     *         "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "title": "Self-service onboarding"
                     *       },
                     *       "createdAt": "2026-11-21T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Event"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "webhooks.list": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All webhooks of the workspace. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0a",
                     *         "url": "https://hooks.example.com/workspace",
                     *         "description": "Announces new evidence",
                     *         "types": [
                     *           "evidence.added"
                     *         ],
                     *         "status": "active",
                     *         "disabledReason": null,
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "lastDeliveryAt": null,
                     *         "lastFailureAt": null
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Webhook"][];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "webhooks.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.example.com/workspace",
                 *       "types": [
                 *         "evidence.added"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description An https URL without a user name and password. */
                    url: string;
                    /** @description The types of events to send (docs/events.md); empty: all. */
                    types?: string[];
                    /** @description Empty, or 1 to 200 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    description?: string;
                };
            };
        };
        responses: {
            /** @description The new webhook with its secret. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "webhook": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0a",
                     *         "url": "https://hooks.example.com/workspace",
                     *         "description": "Announces new evidence",
                     *         "types": [
                     *           "evidence.added"
                     *         ],
                     *         "status": "active",
                     *         "disabledReason": null,
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "lastDeliveryAt": null,
                     *         "lastFailureAt": null
                     *       },
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookCreation"];
                };
            };
            400: components["responses"]["InvalidInput.event_type_unknown.idempotency_key_invalid.webhook_url_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.webhook_limit"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "webhooks.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the webhook. */
                webhookId: components["parameters"]["path.webhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0a",
                     *       "url": "https://hooks.example.com/workspace",
                     *       "description": "Announces new evidence",
                     *       "types": [
                     *         "evidence.added"
                     *       ],
                     *       "status": "active",
                     *       "disabledReason": null,
                     *       "createdAt": "2026-11-21T03:04:05.678Z",
                     *       "lastDeliveryAt": null,
                     *       "lastFailureAt": null
                     *     }
                     */
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "webhooks.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the webhook. */
                webhookId: components["parameters"]["path.webhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "webhooks.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the webhook. */
                webhookId: components["parameters"]["path.webhookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "status": "active"
                 *     }
                 */
                "application/json": {
                    /** @description An https URL without a user name and password. */
                    url?: string;
                    /** @description The types of events to send (docs/events.md); empty: all. */
                    types?: string[];
                    /** @description Empty, or 1 to 200 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    description?: string;
                    /**
                     * @description Whether events are sent (`active`) or not.
                     * @enum {string}
                     */
                    status?: "active" | "disabled";
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.event_type_unknown.webhook_url_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "webhooks.rotateSecret": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the webhook. */
                webhookId: components["parameters"]["path.webhookId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overlapSeconds": 3600
                 *     }
                 */
                "application/json": {
                    /**
                     * @description How long the old secret signs too. By default a day.
                     * @default 86400
                     */
                    overlapSeconds?: number;
                };
            };
        };
        responses: {
            /** @description The new secret. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookRotation"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "webhooks.test": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the webhook. */
                webhookId: components["parameters"]["path.webhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What the receiver answered. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "delivered": true,
                     *       "status": 204,
                     *       "error": null
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookTest"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "webhooks.listDeliveries": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
                /** @description Only deliveries with this status. */
                status?: "pending" | "delivered" | "failed";
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the webhook. */
                webhookId: components["parameters"]["path.webhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e03",
                     *         "eventId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e03",
                     *         "type": "evidence.added",
                     *         "status": "delivered",
                     *         "attempts": 1,
                     *         "lastStatus": 204,
                     *         "lastError": null,
                     *         "nextAttemptAt": null,
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "deliveredAt": "2026-11-21T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["WebhookDelivery"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "webhooks.redeliver": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the webhook. */
                webhookId: components["parameters"]["path.webhookId"];
                /** @description The `id` of the delivery. */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.webhook_disabled"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "webhooks.redeliverSince": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the webhook. */
                webhookId: components["parameters"]["path.webhookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "since": "2026-11-21T03:04:05.678Z"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: date-time
                     * @description Events at or after this time.
                     * @example 2026-11-21T03:04:05.678Z
                     */
                    since: string;
                    /**
                     * Format: date-time
                     * @description Events before this time. By default now.
                     * @example 2026-11-21T03:04:05.678Z
                     */
                    until?: string;
                };
            };
        };
        responses: {
            /** @description How many events are sent again. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "deliveries": 12
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookRedelivery"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.too_many_deliveries.webhook_disabled"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "people.list": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
                /** @description Only members, or only invited people. */
                kind?: "member" | "invited";
                /** @description Only people of this role. */
                role?: components["schemas"]["Role"];
                /** @description Only the members of this team. */
                teamId?: string;
                /** @description Only people whose name or email address contains this text, ignoring case. One or two characters match only the beginning of words. */
                q?: string;
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of people. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "kind": "member",
                     *         "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "name": "Grace Hopper",
                     *         "email": "grace@example.com",
                     *         "image": null,
                     *         "role": "admin",
                     *         "teams": [
                     *           {
                     *             "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07",
                     *             "name": "Design"
                     *           }
                     *         ]
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Person"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "seeds.list": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
                /** @description Only seeds with this status. */
                status?: "open" | "validating" | "validated" | "dropped";
                /** @description Only seeds whose texts have all of these words, or words that begin with them, as `workspaces.search` finds them. */
                q?: string;
                /** @description Only seeds that this person created. */
                createdByUserId?: string;
                /** @description `true`: only seeds that the caller has joined. `false`: only seeds that the caller has not joined. */
                joined?: boolean;
                /** @description `true`: only deleted seeds, of those that the caller can restore. */
                deleted?: boolean;
                /** @description The time to sort by, the latest first. `updatedAt` changes with every edit. */
                sort?: "createdAt" | "updatedAt";
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of seeds. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "title": "Self-service onboarding",
                     *         "summary": "Let new customers set up their account without a call.",
                     *         "problem": "The first call is ten days away on average.",
                     *         "audience": "Teams of up to ten people.",
                     *         "hypothesis": "Half of them finish the setup without help.",
                     *         "successCriteria": [
                     *           "30 of 60 invited teams finish the setup within a day"
                     *         ],
                     *         "status": "validating",
                     *         "participantCount": 2,
                     *         "joined": true,
                     *         "createdByUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "createdByName": "Grace Hopper",
                     *         "agentName": null,
                     *         "leadUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "following": true,
                     *         "evidenceCounts": {
                     *           "supports": 1,
                     *           "contradicts": 0,
                     *           "neutral": 0
                     *         },
                     *         "commentCount": 0,
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "updatedAt": "2026-11-21T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Seed"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "seeds.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "title": "Self-service onboarding",
                 *       "summary": "Let new customers set up their account without a call.",
                 *       "problem": "The first call is ten days away on average.",
                 *       "audience": "Teams of up to ten people.",
                 *       "hypothesis": "Half of them finish the setup without help.",
                 *       "successCriteria": [
                 *         "30 of 60 invited teams finish the setup within a day"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 120 characters, not blank. White space becomes single spaces. Control characters and invisible formatting are refused. */
                    title: string;
                    /** @description 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    summary: string;
                    /** @description Empty, or 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    problem?: string;
                    /** @description Empty, or 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    audience?: string;
                    /** @description Empty, or 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    hypothesis?: string;
                    /** @description What would show that the hypothesis is true. */
                    successCriteria?: string[];
                };
            };
        };
        responses: {
            /** @description The new seed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "seed": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "title": "Self-service onboarding",
                     *         "summary": "Let new customers set up their account without a call.",
                     *         "problem": "The first call is ten days away on average.",
                     *         "audience": "Teams of up to ten people.",
                     *         "hypothesis": "Half of them finish the setup without help.",
                     *         "successCriteria": [
                     *           "30 of 60 invited teams finish the setup within a day"
                     *         ],
                     *         "status": "open",
                     *         "participantCount": 1,
                     *         "joined": true,
                     *         "createdByUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "createdByName": "Grace Hopper",
                     *         "agentName": null,
                     *         "leadUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "following": true,
                     *         "evidenceCounts": {
                     *           "supports": 0,
                     *           "contradicts": 0,
                     *           "neutral": 0
                     *         },
                     *         "commentCount": 0,
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "updatedAt": "2026-11-21T03:04:05.678Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SeedCreation"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "seeds.get": {
        parameters: {
            query?: never;
            header?: {
                /** @description The tags that the client has, or `*`. If the current one is among them, the response is 304. */
                "If-None-Match"?: components["parameters"]["header.If-None-Match"];
            };
            path: {
                /** @description The id of the seed. */
                id: components["parameters"]["path.id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The seed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *       "title": "Self-service onboarding",
                     *       "summary": "Let new customers set up their account without a call.",
                     *       "problem": "The first call is ten days away on average.",
                     *       "audience": "Teams of up to ten people.",
                     *       "hypothesis": "Half of them finish the setup without help.",
                     *       "successCriteria": [
                     *         "30 of 60 invited teams finish the setup within a day"
                     *       ],
                     *       "status": "validating",
                     *       "participantCount": 2,
                     *       "joined": true,
                     *       "createdByUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *       "createdByName": "Grace Hopper",
                     *       "agentName": null,
                     *       "leadUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *       "following": true,
                     *       "evidenceCounts": {
                     *         "supports": 1,
                     *         "contradicts": 0,
                     *         "neutral": 0
                     *       },
                     *       "commentCount": 0,
                     *       "createdAt": "2026-11-21T03:04:05.678Z",
                     *       "updatedAt": "2026-11-21T03:04:05.678Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Seed"];
                };
            };
            /** @description The client has the current response, by a tag in `If-None-Match`. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    ETag: components["headers"]["ETag"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "seeds.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the seed. */
                id: components["parameters"]["path.id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.seed_in_use"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "seeds.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description A tag that the client has read, several, or `*`. If what the request changes has the version of none of them, nothing is changed, and the response is 412. */
                "If-Match"?: components["parameters"]["header.If-Match"];
            };
            path: {
                /** @description The id of the seed. */
                id: components["parameters"]["path.id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "status": "validated",
                 *       "statusReason": "34 of 60 teams finished."
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 120 characters, not blank. White space becomes single spaces. Control characters and invisible formatting are refused. */
                    title?: string;
                    /** @description 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    summary?: string;
                    /** @description Empty, or 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    problem?: string;
                    /** @description Empty, or 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    audience?: string;
                    /** @description Empty, or 1 to 2000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    hypothesis?: string;
                    /** @description What would show that the hypothesis is true. */
                    successCriteria?: string[];
                    /**
                     * @description How far the idea is tested. A seed that is `validated` or `dropped` is decided: nobody else can join it.
                     * @enum {string}
                     */
                    status?: "open" | "validating" | "validated" | "dropped";
                    /** @description Why the status is changed. It is shown in the history; only together with `status`. */
                    statusReason?: string;
                    /** @description The id of the person who leads the seed; null for nobody. */
                    leadUserId?: string | null;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.lead_invalid.reason_without_status"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "seeds.restore": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The id of the seed. */
                id: components["parameters"]["path.id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.seed_in_use"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "seeds.follow": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The id of the seed. */
                id: components["parameters"]["path.id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "seeds.unfollow": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The id of the seed. */
                id: components["parameters"]["path.id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "seeds.join": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The id of the seed. */
                id: components["parameters"]["path.id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused.seed_closed"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "seeds.leave": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The id of the seed. */
                id: components["parameters"]["path.id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "seeds.listParticipants": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
            };
            header?: never;
            path: {
                /** @description The id of the seed. */
                id: components["parameters"]["path.id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of participants. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "name": "Grace Hopper",
                     *         "image": null,
                     *         "joinedAt": "2026-11-21T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["SeedParticipant"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "seeds.listEvidence": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
                /** @description Only evidence that people added themselves, or only what agents added for them. */
                by?: "people" | "agents";
                /** @description `true`: also evidence that was withdrawn. */
                includeWithdrawn?: boolean;
            };
            header?: never;
            path: {
                /** @description The id of the seed. */
                id: components["parameters"]["path.id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of evidence. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e02",
                     *         "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "kind": "experiment",
                     *         "verdict": "supports",
                     *         "summary": "34 of 60 teams finished the setup within a day.",
                     *         "sourceUrl": "https://example.com/experiments/12",
                     *         "authorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "authorName": "Grace Hopper",
                     *         "agentName": "Research agent",
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "editedAt": null,
                     *         "withdrawnAt": null,
                     *         "withdrawnByName": null,
                     *         "withdrawnReason": null
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Evidence"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "seeds.addEvidence": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The id of the seed. */
                id: components["parameters"]["path.id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "kind": "experiment",
                 *       "verdict": "supports",
                 *       "summary": "34 of 60 teams finished the setup within a day.",
                 *       "sourceUrl": "https://example.com/experiments/12"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description How it was found.
                     * @enum {string}
                     */
                    kind: "interview" | "survey" | "experiment" | "metric" | "note";
                    /**
                     * @description Whether it is for the hypothesis of the seed, against it, or neither.
                     * @enum {string}
                     */
                    verdict: "supports" | "contradicts" | "neutral";
                    /** @description 1 to 4000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    summary: string;
                    /** @description An http or https URL of at most 2048 characters. */
                    sourceUrl?: string;
                };
            };
        };
        responses: {
            /** @description The new evidence. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "evidence": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e02",
                     *         "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "kind": "experiment",
                     *         "verdict": "supports",
                     *         "summary": "34 of 60 teams finished the setup within a day.",
                     *         "sourceUrl": "https://example.com/experiments/12",
                     *         "authorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "authorName": "Grace Hopper",
                     *         "agentName": "Research agent",
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "editedAt": null,
                     *         "withdrawnAt": null,
                     *         "withdrawnByName": null,
                     *         "withdrawnReason": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["EvidenceAddition"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid.source_url_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_participant.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "evidence.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the evidence. */
                evidenceId: components["parameters"]["path.evidenceId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "verdict": "neutral"
                 *     }
                 */
                "application/json": {
                    /**
                     * @description How it was found.
                     * @enum {string}
                     */
                    kind?: "interview" | "survey" | "experiment" | "metric" | "note";
                    /**
                     * @description Whether it is for the hypothesis of the seed, against it, or neither.
                     * @enum {string}
                     */
                    verdict?: "supports" | "contradicts" | "neutral";
                    /** @description 1 to 4000 characters, not blank. Tabs and line breaks are kept. Other control characters are refused. */
                    summary?: string;
                    /** @description Empty, or an http or https URL of at most 2048 characters. */
                    sourceUrl?: string;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.source_url_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_the_author.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.evidence_settled"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "evidence.withdraw": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The id of the evidence. */
                evidenceId: components["parameters"]["path.evidenceId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "The survey was sent to the wrong customers."
                 *     }
                 */
                "application/json": {
                    /** @description Why it is withdrawn. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_the_author.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "comments.list": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
                /** @description Only comments on this evidence. */
                evidenceId?: string;
            };
            header?: never;
            path: {
                /** @description The id of the seed. */
                id: components["parameters"]["path.id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of comments. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0b",
                     *         "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "evidenceId": null,
                     *         "body": "Have we asked [@Grace Hopper](user:01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08)? She ran *three* of these.",
                     *         "mentions": [
                     *           {
                     *             "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *             "name": "Grace Hopper"
                     *           }
                     *         ],
                     *         "authorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e10",
                     *         "authorName": "Ada Lovelace",
                     *         "agentName": null,
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "editedAt": null
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["Comment"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "comments.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The id of the seed. */
                id: components["parameters"]["path.id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "body": "Have we asked [@Grace Hopper](user:01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08)? She ran *three* of these."
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 5000 characters of Markdown. `[@Name](user:ID)` mentions a member of the workspace; the name may be anything. Mentions of others become plain text. */
                    body: string;
                    /** @description The evidence of the seed that it is about. Absent: the seed itself. */
                    evidenceId?: string;
                };
            };
        };
        responses: {
            /** @description The new comment. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true,
                     *       "comment": {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0b",
                     *         "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "evidenceId": null,
                     *         "body": "Have we asked [@Grace Hopper](user:01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08)? She ran *three* of these.",
                     *         "mentions": [
                     *           {
                     *             "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *             "name": "Grace Hopper"
                     *           }
                     *         ],
                     *         "authorUserId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e10",
                     *         "authorName": "Ada Lovelace",
                     *         "agentName": null,
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "editedAt": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["CommentCreation"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "comments.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the comment. */
                commentId: components["parameters"]["path.commentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_the_author.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "comments.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the comment. */
                commentId: components["parameters"]["path.commentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "body": "Have we asked [@Grace Hopper](user:01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08)? She ran *three* of these."
                 *     }
                 */
                "application/json": {
                    /** @description 1 to 5000 characters of Markdown. `[@Name](user:ID)` mentions a member of the workspace; the name may be anything. Mentions of others become plain text. */
                    body: string;
                };
            };
        };
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["HttpApiDecodeError"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_the_author.role_insufficient"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "integrations.list": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of agent grants. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e04",
                     *         "clientId": "V1StGXR8_Z5jdHi6B-myT",
                     *         "clientName": "Research agent",
                     *         "clientUri": "https://agent.example.com",
                     *         "userId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08",
                     *         "userName": "Grace Hopper",
                     *         "scopes": [
                     *           "validation-kit:read"
                     *         ],
                     *         "createdAt": "2026-11-21T03:04:05.678Z",
                     *         "lastUsedAt": null,
                     *         "expiresAt": "2026-11-28T03:04:05.678Z"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["AgentGrant"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "integrations.listCalls": {
        parameters: {
            query?: {
                /** @description The most items of a page. It has fewer where it would be larger than 1 MiB. */
                limit?: components["parameters"]["query.limit"];
                /** @description Where the page starts, from the `Link` of the previous page. */
                cursor?: components["parameters"]["query.cursor"];
            };
            header?: never;
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the grant. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of calls. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Content-Location": components["headers"]["Content-Location"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e03",
                     *         "calledAt": "2026-11-21T03:04:05.678Z",
                     *         "tool": "fetch",
                     *         "code": "ok",
                     *         "seedId": "01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06",
                     *         "seedTitle": "Self-service onboarding"
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["AgentCall"][];
                };
            };
            400: components["responses"]["InvalidInput.cursor_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            413: components["responses"]["PayloadTooLarge.headers_too_large.url_too_long"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "integrations.revoke": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a retry safe: within 24 hours, the same request with the same key runs at most once. After a lost response or a 5xx, send the request again: it returns the first response, or runs now if nothing was changed. After 409 `idempotency_in_flight`, wait for `Retry-After` seconds. */
                "Idempotency-Key"?: components["parameters"]["header.Idempotency-Key"];
            };
            path: {
                /** @description The slug of the workspace, or one that it had in the last 90 days. */
                slug: components["parameters"]["path.slug"];
                /** @description The id of the grant. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The change was made. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "Content-Location": components["headers"]["Content-Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "ok": true
                     *     }
                     */
                    "application/json": components["schemas"]["Ok"];
                };
            };
            400: components["responses"]["InvalidInput.idempotency_key_invalid"];
            401: components["responses"]["Unauthorized.api_key_required"];
            403: components["responses"]["Forbidden.key_not_for_workspace.key_read_only.not_a_member"];
            404: components["responses"]["NotFound.not_found"];
            409: components["responses"]["Conflict.idempotency_in_flight.idempotency_key_reused"];
            413: components["responses"]["PayloadTooLarge.body_too_large.headers_too_large.url_too_long"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests.rate_limited.too_many_at_once.too_many_bad_keys"];
            500: components["responses"]["Internal"];
            503: components["responses"]["ServiceUnavailable.database_unavailable.overloaded"];
        };
    };
    "webhooks.receive": {
        parameters: {
            query?: never;
            header: {
                /** @description The id of the event: the same in every attempt. */
                "webhook-id": string;
                /** @description The time of the attempt, in seconds since 1970. */
                "webhook-timestamp": string;
                /** @description A signature by each valid secret, separated by spaces. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The type of the event. */
                    type: string;
                    /**
                     * Format: date-time
                     * @description The time of the event.
                     */
                    timestamp: string;
                    data: components["schemas"]["Event"];
                    /** @description The place of the event in the feed: the `after` of `events.changes`. */
                    cursor: string | null;
                };
            };
        };
        responses: {
            /** @description No more events are wanted: the webhook is disabled. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event was received. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The event is sent again later, up to ten times in all. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
