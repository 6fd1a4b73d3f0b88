// npm run docs writes this file from src/domain/events.ts.
import type { components } from './api.ts'

/** The data of events by their types. */
export interface EventDataByType {
  'workspace.created': {
    /** The id of the workspace. */
    workspaceId: string
    /** The name of the workspace at the time. */
    name: string
    /** Its slug at the time. */
    slug: string
  }
  'workspace.updated': {
    /** The id of the workspace. */
    workspaceId: string
    /** Before the change. */
    from: {
      name: string
      slug: string
      allowedDomains: string[]
    }
    /** After the change. */
    to: {
      name: string
      slug: string
      allowedDomains: string[]
    }
  }
  'workspace.icon_changed': {
    /** The id of the workspace. */
    workspaceId: string
    /** The name of the workspace at the time. */
    name: string
  }
  'workspace.icon_removed': {
    /** The id of the workspace. */
    workspaceId: string
    /** The name of the workspace at the time. */
    name: string
  }
  'workspace.agent_policy_changed': {
    /** The id of the workspace. */
    workspaceId: string
    /** Before the change. */
    from: {
      assertedAgents: 'off' | 'on'
      scopes: string[]
      clients: string[]
    }
    /** After the change. */
    to: {
      assertedAgents: 'off' | 'on'
      scopes: string[]
      clients: string[]
    }
  }
  'workspace.ownership_transferred': {
    /** The id of the workspace. */
    workspaceId: string
    /** The id of the new owner. */
    userId: string
    /** Their name at the time. */
    name: string
    /** Their role before. */
    from: 'owner' | 'admin' | 'member' | 'viewer'
    /** The id of the person who transferred the ownership, and is an admin now. */
    formerOwnerUserId: string
  }
  'workspace.deleted': {
    /** The id of the workspace. */
    workspaceId: string
    /** The name of the workspace at the time. */
    name: string
  }
  'workspace.restored': {
    /** The id of the workspace. */
    workspaceId: string
    /** The name of the workspace at the time. */
    name: string
  }
  'workspace.exported': {
    /** The id of the workspace. */
    workspaceId: string
  }
  'workspace.imported': {
    /** The id of the workspace. */
    workspaceId: string
    /** The id of the import. */
    importId: string
    /** How many seeds it creates. Each has its own event. */
    seedCount: number
  }
  'workspace.import_undone': {
    /** The id of the workspace. */
    workspaceId: string
    /** The id of the import. */
    importId: string
    /** How many of its seeds stay, since others have added to them. */
    keptCount: number
  }
  'member.joined': {
    /** The id of the person. */
    userId: string
    /** Their name at the time. */
    name: string
    /** Their role. */
    role: 'owner' | 'admin' | 'member' | 'viewer'
    /** The invite that they accepted. */
    inviteId: string | null
    /** The id of the person who invited them. */
    invitedByUserId: string | null
    /** The name of that person at the time. */
    invitedByName: string | null
    /** The allowed email domain by which they joined without an invite. */
    domain: string | null
    /** The teams of the invite, which they joined with the workspace. */
    teamIds: string[]
    /** Whether it is a person or a service account. Absent: a person. */
    kind?: 'person' | 'service'
  }
  'member.role_changed': {
    /** The id of the person. */
    userId: string
    /** Their name at the time. */
    name: string
    /** The role before. */
    from: 'owner' | 'admin' | 'member' | 'viewer'
    /** The role now. */
    to: 'owner' | 'admin' | 'member' | 'viewer'
  }
  'member.updated': {
    /** The id of the person. */
    userId: string
    /** What of them has changed. `members.get` has the new values. */
    fields: ('name' | 'email' | 'image')[]
    /** Whether it is a person or a service account. Absent: a person. */
    kind?: 'person' | 'service'
  }
  'person.erased': {
    /** The id of the person. */
    userId: string
  }
  'member.removed': {
    /** The id of the person. */
    userId: string
    /** Their name at the time. */
    name: string
    /** Whether somebody removed them, or their account was deleted. */
    reason: 'removed' | 'account_deleted'
  }
  'member.suspended': {
    /** The id of the person. */
    userId: string
    /** Their name at the time. */
    name: string
  }
  'member.unsuspended': {
    /** The id of the person. */
    userId: string
    /** Their name at the time. */
    name: string
  }
  'api_key.stopped': {
    /** The id of the key. */
    apiKeyId: string
    /** The id of its owner. */
    userId: string
  }
  'member.left': {
    /** The id of the person. */
    userId: string
    /** Their name at the time. */
    name: string
    /** The name of the workspace at the time. */
    workspaceName: string
  }
  'invite.created': {
    /** The id of the invite. */
    inviteId: string
    /** The invited address. */
    email: string
    /** The role that they will have. */
    role: 'owner' | 'admin' | 'member' | 'viewer'
  }
  'invite.resent': {
    /** The id of the invite. */
    inviteId: string
    /** The invited address. */
    email: string
  }
  'invite.revoked': {
    /** The id of the invite. */
    inviteId: string
    /** The invited address. Null if the account of the invited or of the inviting person was deleted. */
    email: string | null
  }
  'invite.declined': {
    /** The id of the invite. */
    inviteId: string
    /** The invited address. */
    email: string
  }
  'invite.undeliverable': {
    /** The id of the invite. */
    inviteId: string
    /** The invited address. */
    email: string
  }
  'invite.role_changed': {
    /** The id of the invite. */
    inviteId: string
    /** The invited address. */
    email: string
    /** The role before. */
    from: 'owner' | 'admin' | 'member' | 'viewer'
    /** The role now. */
    to: 'owner' | 'admin' | 'member' | 'viewer'
  }
  'invite.accepted': {
    /** The id of the invite. */
    inviteId: string
    /** The id of the person who invited them. */
    invitedByUserId: string
    /** The name of that person at the time. */
    invitedByName: string
  }
  'team.created': {
    /** The id of the team. */
    teamId: string
    /** The name of the team at the time. */
    teamName: string
  }
  'team.renamed': {
    /** The id of the team. */
    teamId: string
    /** The name before. */
    from: string
    /** The name now. */
    to: string
  }
  'team.deleted': {
    /** The id of the team. */
    teamId: string
    /** The name of the team at the time. */
    teamName: string
  }
  'team.member_added': {
    /** The id of the team. */
    teamId: string
    /** The name of the team at the time. */
    teamName: string
    /** The id of the person. */
    userId: string
    /** Their name at the time. */
    name: string
    /** Whether they did it themselves. */
    isSelf: boolean
  }
  'team.member_removed': {
    /** The id of the team. */
    teamId: string
    /** The name of the team at the time. */
    teamName: string
    /** The id of the person. */
    userId: string
    /** Their name at the time. */
    name: string
    /** Whether they did it themselves. */
    isSelf: boolean
  }
  'label.created': {
    /** The id of the label. */
    labelId: string
    /** The name of the label at the time. */
    labelName: string
  }
  'label.updated': {
    /** The id of the label. */
    labelId: string
    /** The name before. */
    from: string
    /** The name now. */
    to: string
  }
  'label.deleted': {
    /** The id of the label. */
    labelId: string
    /** The name of the label at the time. */
    labelName: string
  }
  'saved_filter.created': {
    /** The id of the saved filter. */
    filterId: string
    /** The name of the saved filter at the time. */
    filterName: string
  }
  'saved_filter.updated': {
    /** The id of the saved filter. */
    filterId: string
    /** The name before. */
    from: string
    /** The name now. */
    to: string
    /** Whether it has other filters now. */
    filtersChanged: boolean
  }
  'saved_filter.deleted': {
    /** The id of the saved filter. */
    filterId: string
    /** The name of the saved filter at the time. */
    filterName: string
  }
  'seed.created': {
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The ids of its files. Absent: it has none. */
    attachmentIds?: string[]
    /** The id of its team. Absent: it has none. */
    teamId?: string
    /** The ids of its labels. Absent: it has none. */
    labelIds?: string[]
  }
  'seed.updated': {
    /** The id of the seed. */
    seedId: string
    /** The title of the seed after the change. */
    title: string
    /** The title before, if it was changed. */
    titleBefore: string | null
    /** What was changed. */
    fields: (
      | 'title'
      | 'summary'
      | 'problem'
      | 'audience'
      | 'hypothesis'
      | 'successCriteria'
      | 'status'
      | 'leadUserId'
      | 'question'
      | 'decideBy'
      | 'teamId'
      | 'labelIds'
      | 'attachmentIds'
    )[]
    /** The status before and now, if it was changed. */
    status: {
      from: 'open' | 'validating' | 'validated' | 'dropped'
      to: 'open' | 'validating' | 'validated' | 'dropped'
    } | null
    /** Why the status was changed, if that was said. */
    statusReason: string | null
    /** The id of the person who leads it now, if `fields` has `leadUserId`; null for nobody. */
    leadUserId: string | null
    /** The name of that person at the time. */
    leadName: string | null
    /** The id of the person who led it before, if `fields` has `leadUserId`; null for nobody. */
    leadUserIdBefore?: string | null
    /** The name of that person at the time. */
    leadNameBefore?: string | null
    /** The id of its team now, if `fields` has `teamId`; null for none. */
    teamId?: string | null
    /** The name of that team at the time. */
    teamName?: string | null
    /** The id of its team before, if `fields` has `teamId`; null for none. */
    teamIdBefore?: string | null
    /** The name of that team at the time. */
    teamNameBefore?: string | null
    /** The ids of its labels now, if `fields` has `labelIds`. */
    labelIds?: string[]
  }
  'seed.criterion_changed': {
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The id of the success criterion. */
    criterionId: string
    /** What it says, after the change. */
    text: string
    /** Its state before; `open` if it is new. */
    from: 'open' | 'met' | 'missed'
    /** Its state now. */
    to: 'open' | 'met' | 'missed'
  }
  'seed.joined': {
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
  }
  'seed.person_asked': {
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The id of the person. */
    userId: string
    /** Their name at the time. */
    name: string
    /** What they are to be in the seed. */
    as: 'participant' | 'lead'
  }
  'seed.left': {
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
  }
  'seed.deleted': {
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
  }
  'seed.restored': {
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
  }
  'attachment.deleted': {
    /** The id of the file. */
    attachmentId: string
    /** The name of the file. */
    name: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** What it was attached to. */
    targetType: 'seed' | 'evidence' | 'comment'
    /** The id of the seed, evidence or comment that it was attached to. */
    targetId: string
  }
  'seed.merged': {
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The id of the seed that it was merged into. */
    intoSeedId: string
    /** The title of that seed at the time. */
    intoTitle: string
    /** How many pieces of evidence moved, also withdrawn ones. */
    evidenceCount: number
    /** How many comments moved. */
    commentCount: number
  }
  'seed.unmerged': {
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The id of the seed that it had been merged into. */
    fromSeedId: string
    /** The title of that seed at the time. */
    fromTitle: string
    /** How many pieces of evidence moved, also withdrawn ones. */
    evidenceCount: number
    /** How many comments moved. */
    commentCount: number
  }
  'evidence.added': {
    /** The id of the evidence. */
    evidenceId: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The kind of evidence. */
    kind: 'interview' | 'survey' | 'experiment' | 'metric' | 'note'
    /** Whether it is for or against the seed. */
    verdict: 'supports' | 'contradicts' | 'neutral'
    /** The ids of its files. Absent: it has none. */
    attachmentIds?: string[]
  }
  'evidence.updated': {
    /** The id of the evidence. */
    evidenceId: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** What was corrected. */
    fields: ('kind' | 'verdict' | 'summary' | 'sourceUrl' | 'criterionIds' | 'attachmentIds')[]
  }
  'evidence.withdrawn': {
    /** The id of the evidence. */
    evidenceId: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The kind of evidence. */
    kind: 'interview' | 'survey' | 'experiment' | 'metric' | 'note'
    /** Whether it was for or against the seed. */
    verdict: 'supports' | 'contradicts' | 'neutral'
    /** Why it was withdrawn, if that was said. */
    reason: string | null
    /** The id of its author. Null: the account was deleted. */
    userId: string | null
    /** The name of its author at the time. */
    name: string
    /** Whether the author withdrew it. */
    isSelf: boolean
  }
  'evidence.seen': {
    /** The id of the evidence. */
    evidenceId: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The kind of evidence. */
    kind: 'interview' | 'survey' | 'experiment' | 'metric' | 'note'
    /** Whether it is for or against the seed. */
    verdict: 'supports' | 'contradicts' | 'neutral'
  }
  'evidence.unseen': {
    /** The id of the evidence. */
    evidenceId: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The kind of evidence. */
    kind: 'interview' | 'survey' | 'experiment' | 'metric' | 'note'
    /** Whether it is for or against the seed. */
    verdict: 'supports' | 'contradicts' | 'neutral'
  }
  'comment.added': {
    /** The id of the comment. */
    commentId: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The evidence that it is about; null for the seed itself. */
    evidenceId: string | null
    /** The ids of its files. Absent: it has none. */
    attachmentIds?: string[]
  }
  'comment.updated': {
    /** The id of the comment. */
    commentId: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The evidence that it is about; null for the seed itself. */
    evidenceId: string | null
  }
  'comment.deleted': {
    /** The id of the comment. */
    commentId: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The evidence that it is about; null for the seed itself. */
    evidenceId: string | null
    /** The id of its author. Null: the account was deleted. */
    userId: string | null
    /** The name of its author at the time. */
    name: string
    /** Whether the author did it. */
    isSelf: boolean
  }
  'agent_request.created': {
    /** The id of the request. */
    agentRequestId: string
    /** The id of the comment. */
    commentId: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The evidence that it is about; null for the seed itself. */
    evidenceId: string | null
    /** The id of the grant of the agent. */
    grantId: string
    /** The name of the agent. */
    clientName: string
  }
  'agent_request.answered': {
    /** The id of the request. */
    agentRequestId: string
    /** The id of the comment. */
    commentId: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The evidence that it is about; null for the seed itself. */
    evidenceId: string | null
    /** The id of the grant of the agent. */
    grantId: string
    /** The name of the agent. */
    clientName: string
    /** The id of the comment that answers it. */
    answerCommentId: string
  }
  'agent_request.declined': {
    /** The id of the request. */
    agentRequestId: string
    /** The id of the comment. */
    commentId: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The evidence that it is about; null for the seed itself. */
    evidenceId: string | null
    /** The id of the grant of the agent. */
    grantId: string
    /** The name of the agent. */
    clientName: string
  }
  'agent_request.cancelled': {
    /** The id of the request. */
    agentRequestId: string
    /** The id of the comment. */
    commentId: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The evidence that it is about; null for the seed itself. */
    evidenceId: string | null
    /** The id of the grant of the agent. */
    grantId: string
    /** The name of the agent. */
    clientName: string
  }
  'agent_request.expired': {
    /** The id of the request. */
    agentRequestId: string
    /** The id of the comment. */
    commentId: string
    /** The id of the seed. */
    seedId: string
    /** The title of the seed at the time. */
    title: string
    /** The evidence that it is about; null for the seed itself. */
    evidenceId: string | null
    /** The id of the grant of the agent. */
    grantId: string
    /** The name of the agent. */
    clientName: string
  }
  'integration.granted': {
    /** The id of the grant. */
    grantId: string
    /** The name of the agent. */
    clientName: string
    /** The id of the person for whom the agent acts. */
    userId: string
    /** What the agent may do. */
    scopes: string[]
    /** The name of the workspace at the time. */
    workspaceName: string
    /** Whether other members may ask it; only if they may. */
    membersMayAsk?: boolean
    /** The identity provider that gave the access, as the policy of the workspace allows; only if one did. */
    assertedBy?: string
  }
  'integration.changed': {
    /** The id of the grant. */
    grantId: string
    /** The name of the agent. */
    clientName: string
    /** The id of the person for whom the agent acts. */
    userId: string
    /** The scopes before. */
    from: string[]
    /** The scopes now. */
    to: string[]
    /** When the access would have ended; only if the end was changed. */
    expiredAt?: string
    /** When it ends now; only if the end was changed. */
    expiresAt?: string
    /** Whether other members may ask it now; only if that was changed. */
    membersMayAsk?: boolean
  }
  'integration.used': {
    /** The id of the grant. */
    grantId: string
    /** The name of the agent. */
    clientName: string
    /** The id of the person for whom the agent acts. */
    userId: string
    /** The tool that the agent used for the first time that day. */
    tool: string
    /** What it did with it, as the end of a sentence. */
    did: string
  }
  'integration.revoked': {
    /** The id of the grant. */
    grantId: string
    /** The name of the agent. */
    clientName: string
    /** The id of the person for whom the agent acts. */
    userId: string
    /** Whether somebody revoked it, a new grant of the same person replaced it, it ended because a code or token was used twice, or the agent or an operator ended it. */
    reason: 'revoked' | 'replaced' | 'reused' | 'ended'
  }
  'service_account.created': {
    /** The id of the service account. */
    serviceAccountId: string
    /** The id of its member. */
    userId: string
    /** The name of the service account at the time. */
    name: string
    /** Its role. */
    role: 'admin' | 'member' | 'viewer'
  }
  'service_account.updated': {
    /** The id of the service account. */
    serviceAccountId: string
    /** The id of its member. */
    userId: string
    /** The name of the service account at the time. */
    name: string
    /** Its role after the change. */
    role: 'admin' | 'member' | 'viewer'
    /** What was changed. */
    fields: ('name' | 'role')[]
  }
  'service_account.deleted': {
    /** The id of the service account. */
    serviceAccountId: string
    /** The id of its member. */
    userId: string
    /** The name of the service account at the time. */
    name: string
  }
  'service_account.key_created': {
    /** The id of the service account. */
    serviceAccountId: string
    /** The id of its member. */
    userId: string
    /** The name of the service account at the time. */
    name: string
    /** The id of the API key. */
    apiKeyId: string
    /** The name of the API key. */
    keyName: string
  }
  'service_account.key_rotated': {
    /** The id of the service account. */
    serviceAccountId: string
    /** The id of its member. */
    userId: string
    /** The name of the service account at the time. */
    name: string
    /** The id of the API key. */
    apiKeyId: string
    /** The name of the API key. */
    keyName: string
    /** The id of the API key that it takes the place of. */
    rotatedApiKeyId: string
  }
  'service_account.key_revoked': {
    /** The id of the service account. */
    serviceAccountId: string
    /** The id of its member. */
    userId: string
    /** The name of the service account at the time. */
    name: string
    /** The id of the API key. */
    apiKeyId: string
    /** The name of the API key. */
    keyName: string
  }
  'service_account.client_created': {
    /** The id of the service account. */
    serviceAccountId: string
    /** The id of its member. */
    userId: string
    /** The name of the service account at the time. */
    name: string
    /** The id of the client, and of its access. */
    grantId: string
    /** The name of the client. */
    clientName: string
    /** Its OAuth scopes. */
    scopes: string[]
  }
  'service_account.client_prolonged': {
    /** The id of the service account. */
    serviceAccountId: string
    /** The id of its member. */
    userId: string
    /** The name of the service account at the time. */
    name: string
    /** The id of the client, and of its access. */
    grantId: string
    /** The name of the client. */
    clientName: string
    /** When its access would have ended. */
    expiredAt: string
    /** When it ends now. */
    expiresAt: string
  }
  'service_account.client_rotated': {
    /** The id of the service account. */
    serviceAccountId: string
    /** The id of its member. */
    userId: string
    /** The name of the service account at the time. */
    name: string
    /** The id of the client, and of its access. */
    grantId: string
    /** The name of the client. */
    clientName: string
  }
  'service_account.client_revoked': {
    /** The id of the service account. */
    serviceAccountId: string
    /** The id of its member. */
    userId: string
    /** The name of the service account at the time. */
    name: string
    /** The id of the client, and of its access. */
    grantId: string
    /** The name of the client. */
    clientName: string
  }
  'service_account.keys_known': {
    /** The id of the person. */
    userId: string
    /** Their name at the time. */
    name: string
    /** The active API keys of service accounts that the person was shown. */
    keys: {
      /** The id of the service account. */
      serviceAccountId: string
      /** Its name at the time. */
      serviceAccountName: string
      /** The id of the API key. */
      apiKeyId: string
      /** The name of the API key. */
      keyName: string
      /** Its last four characters. */
      lastFour: string
    }[]
    /** The OAuth clients of service accounts whose secret the person was shown, or whose key they gave. Absent: none. */
    clients?: {
      /** The id of the service account. */
      serviceAccountId: string
      /** Its name at the time. */
      serviceAccountName: string
      /** The id of the access of the OAuth client. */
      grantId: string
      /** The name of the client. */
      clientName: string
    }[]
    /** The webhooks of which the person was shown a secret that signs. Absent: none. */
    webhooks?: {
      /** The id of the webhook. */
      webhookId: string
      /** The host of its URL at the time. The rest of the URL may be secret. */
      host: string
    }[]
  }
  'webhook.created': {
    /** The id of the webhook. */
    webhookId: string
    /** The host of its URL at the time. The rest of the URL may be secret. */
    host: string
  }
  'webhook.updated': {
    /** The id of the webhook. */
    webhookId: string
    /** The host of its URL at the time. The rest of the URL may be secret. */
    host: string
    /** What was changed. */
    fields: ('url' | 'format' | 'types' | 'seedIds' | 'teamIds' | 'labelIds' | 'description' | 'status')[]
    /** The status now. */
    status: 'active' | 'disabled'
  }
  'webhook.resumed': {
    /** The id of the webhook. */
    webhookId: string
    /** The host of its URL at the time. The rest of the URL may be secret. */
    host: string
  }
  'webhook.deleted': {
    /** The id of the webhook. */
    webhookId: string
    /** The host of its URL at the time. The rest of the URL may be secret. */
    host: string
  }
  'webhook.secret_rotated': {
    /** The id of the webhook. */
    webhookId: string
    /** The host of its URL at the time. The rest of the URL may be secret. */
    host: string
  }
  'webhook.tested': {
    /** The id of the webhook. */
    webhookId: string
    /** The host of its URL at the time. The rest of the URL may be secret. */
    host: string
    /** Whether the receiver answered 2xx. */
    delivered: boolean
    /** The type of the event of which a sample was sent; null for a test. */
    sampleType: string | null
  }
  'webhook.redelivered': {
    /** The id of the webhook. */
    webhookId: string
    /** The host of its URL at the time. The rest of the URL may be secret. */
    host: string
    /** How many events are sent again. */
    events: number
  }
  'webhook.disabled': {
    /** The id of the webhook. */
    webhookId: string
    /** The host of its URL at the time. The rest of the URL may be secret. */
    host: string
    /** Whether its receiver answered 410 Gone, or nothing could be delivered for three days. */
    reason: 'gone' | 'failing'
  }
}

/** The types of events. A newer service may have more. */
export type EventType = keyof EventDataByType

/** An event, whose `type` says what its `data` is. Events from before there was data have an empty object. */
export type WorkspaceEvent = {
  [Type in EventType]: Omit<components['schemas']['Event'], 'type' | 'data'> & {
    type: Type
    data: EventDataByType[Type]
  }
}[EventType]
