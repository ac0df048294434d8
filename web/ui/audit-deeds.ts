import { sanitize } from '../session/text.ts'
import { t } from './messages.ts'

type Named = { type: string; id: string; name: string | null }

/** Part of an audit entry that its sentence reads. */
export interface AuditedEntry {
  action: string
  actor: Named
  subject: Named
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  details: Record<string, unknown>
  names: Record<string, string>
}

/** A name within a sentence. The marks isolate its direction, as `<bdi>` does. */
export const isolate = (name: string): string => `\u2068${sanitize(name)}\u2069`

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const list = (value: unknown): string => (Array.isArray(value) ? value.map(text).join(', ') : text(value))
/** A changed value. Records of a single value have it as `value`. */
const single = (side: AuditedEntry['before']): string => text(side?.value)

const readerOf = ({ subject, before, after, details, names }: AuditedEntry, fullTime: (at: string) => string) => {
  const named = (id: string): string => isolate(names[id] ?? id)
  return {
    of: (field: string): string => named(text(details[field])),
    plain: (field: string): string => text(details[field]),
    raw: (field: string): string => isolate(text(details[field])),
    listed: (field: string): string => isolate(list(details[field])),
    isSet: (field: string): boolean => details[field] !== undefined && details[field] !== null,
    is: (field: string, value: unknown): boolean => details[field] === value,
    time: (field: string): string => {
      const value = details[field]
      const at = typeof value === 'number' ? new Date(value).toISOString() : text(value)
      return at && fullTime(at)
    },
    /** Reads a field of the state before or after: `role` of `{role: 'admin'}`. */
    was: (field: string): string => text(before?.[field]),
    becomes: (field: string): string => text(after?.[field]),
    from: isolate(names[single(before)] ?? single(before)),
    to: isolate(names[single(after)] ?? single(after)),
    subject: isolate(subject.name ?? subject.id),
    fields: isolate([...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].join(', ')),
  }
}

type Reader = ReturnType<typeof readerOf>

const roleName = (role: string): string =>
  t('{role, select, owner {owner} admin {admin} other {member}}', { role }, 'audit')

/** Adds the person in whose place somebody decided, if any. */
const standingIn = (entry: Reader, deed: string): string =>
  entry.isSet('on_behalf_of')
    ? t('{deed} in place of {person}', { deed, person: entry.of('on_behalf_of') }, 'audit')
    : deed

const budgetOf = (entry: AuditedEntry): string => {
  const budget = entry.after ?? entry.before ?? {}
  const id = text(budget.subject_id)
  return t(
    '{owner, select, workspace {the workspace} agent {the agent {name}} person {the person {name}} agents {each agent} other {each person}}',
    {
      owner: id || budget.subject === 'workspace' ? text(budget.subject) : `${text(budget.subject)}s`,
      name: isolate(entry.names[id] ?? id),
    },
  )
}

const messenger = (entry: Reader): string =>
  t('{kind, select, bot {a Telegram bot} user {their own Telegram account} other {a Telegram account}}', {
    kind: entry.plain('kind'),
  })

/** Predicates of the sentences, by action. Each follows the actor's name. */
const DEEDS: Record<string, (entry: Reader, whole: AuditedEntry) => string> = {
  'abuse.reported': (entry) => t('reported the app {app}', { app: entry.subject }),
  'agent.called': (entry) =>
    entry.isSet('tool')
      ? t('called {tool} of {agent}', { tool: entry.raw('tool'), agent: entry.subject })
      : t('gave {agent} a task', { agent: entry.subject }),
  'agent.call_denied': (entry) =>
    t('wasn’t allowed to call {agent} ({reason})', { agent: entry.subject, reason: entry.raw('reason') }),
  'agent_request.created': () => t('put an agent on the wishlist'),
  'approval.approved': (entry) =>
    standingIn(
      entry,
      t('approved {tool} for {agent}', { tool: entry.raw('tool'), agent: entry.of('installation_id') }),
    ),
  'approval.first_approved': (entry) =>
    standingIn(
      entry,
      t('approved {tool} for {agent}, as the first of several people', {
        tool: entry.raw('tool'),
        agent: entry.of('installation_id'),
      }),
    ),
  'approval.rejected': (entry) =>
    standingIn(
      entry,
      t('rejected {tool} for {agent}', { tool: entry.raw('tool'), agent: entry.of('installation_id') }),
    ),
  'budget.added': (_, whole) => t('added a budget for {owner}', { owner: budgetOf(whole) }),
  'budget.changed': (_, whole) => t('changed the budget for {owner}', { owner: budgetOf(whole) }),
  'budget.removed': (_, whole) => t('removed the budget for {owner}', { owner: budgetOf(whole) }),
  'consent.approved': (entry) =>
    t('gave {app} access to this workspace ({scopes})', { app: entry.of('app_id'), scopes: entry.listed('scopes') }),
  'grant.paused': (entry) => t('paused the access of {app}', { app: entry.of('installation_id') }),
  'grant.resumed': (entry) => t('resumed the access of {app}', { app: entry.of('installation_id') }),
  'grant.revoked': (entry, { actor }) =>
    actor.type === 'app'
      ? t('{reason, select, client_request {gave up its access} other {lost its access ({reason})}}', {
          reason: entry.plain('reason'),
        })
      : t('ended the access of {app}', { app: entry.of('installation_id') }),
  'host.connected': (entry) =>
    t('connected the assistant {name} ({host})', { name: entry.raw('name'), host: entry.raw('host') }),
  'host.disconnected': (entry, { actor, details }) =>
    details.user_id === actor.id
      ? t('disconnected the assistant {host}', { host: entry.raw('host') })
      : t('disconnected the assistant {host} of {person}', { host: entry.raw('host'), person: entry.of('user_id') }),
  'host.tool_called': (entry, { details }) =>
    t('used {tool} through the assistant {host}', {
      tool: entry.subject,
      host: isolate(text((details.via as { host?: unknown } | undefined)?.host)),
    }),
  'installation.access_withdrawn': (entry) =>
    t('ended the runs of {agent}, because nobody’s consent is left', { agent: entry.subject }),
  'installation.created': (entry) => t('installed {agent}', { agent: entry.subject }),
  'installation.policy_changed': (entry) =>
    t('changed which agents may call {agent}, or which tools it may use', { agent: entry.subject }),
  'installation.removed': (entry) => t('uninstalled {agent}', { agent: entry.subject }),
  'installation.settings_changed': (entry) =>
    t('changed settings of {agent} ({keys})', { agent: entry.subject, keys: entry.listed('keys') }),
  'installation.updated': (entry) => t('changed the permissions of {agent}', { agent: entry.subject }),
  'installation.upgraded': (entry) =>
    t('updated {agent} from version {from} to {to}', { agent: entry.subject, from: entry.from, to: entry.to }),
  'invitation.created': (entry) => t('invited someone as {role}', { role: roleName(entry.plain('role')) }),
  'invitation.revoked': (entry) => t('withdrew an invitation as {role}', { role: roleName(entry.plain('role')) }),
  'member.away': (entry) =>
    t('is away until {time}, and {person} decides in their place', {
      time: entry.time('until'),
      person: entry.of('delegate_id'),
    }),
  'member.back': () => t('is back, and decides again'),
  'member.joined': (entry) =>
    entry.isSet('invited_by')
      ? t('joined as {role}, invited by {person}', {
          role: roleName(entry.plain('role')),
          person: entry.of('invited_by'),
        })
      : t('joined as {role}', { role: roleName(entry.plain('role')) }),
  'member.removed': (entry) =>
    entry.is('left', true)
      ? t('left the workspace')
      : t('removed {person} from the workspace', { person: entry.subject }),
  'member.role_changed': (entry) =>
    t('changed the role of {person} from {from} to {to}', {
      person: entry.subject,
      from: roleName(entry.was('role')),
      to: roleName(entry.becomes('role')),
    }),
  'messenger.account_connected': (entry) => t('connected {account}', { account: messenger(entry) }),
  'messenger.account_disconnected': (entry) => t('disconnected {account}', { account: messenger(entry) }),
  'messenger.account_lost': (entry) => t('lost the connection to {account}', { account: messenger(entry) }),
  'messenger.account_refused': (entry) => t('couldn’t connect {account}', { account: messenger(entry) }),
  'messenger.account_requested': (entry) => t('asked to connect {account}', { account: messenger(entry) }),
  'messenger.account_shared': () => t('shared a Telegram account with the workspace'),
  'messenger.account_unshared': () => t('stopped sharing a Telegram account with the workspace'),
  'messenger.agent_assigned': (entry, { after }) =>
    single(after)
      ? t('put {agent} in charge of a Telegram chat', { agent: entry.to })
      : t('left a Telegram chat without an agent'),
  'messenger.draft_approved': () => t('approved a message to a Telegram chat'),
  'messenger.draft_rejected': () => t('rejected a message to a Telegram chat'),
  'run.answered': (entry) => t('answered a question of {agent}', { agent: entry.of('installation_id') }),
  'run.cancelled': (entry) => t('cancelled a run of {agent}', { agent: entry.of('installation_id') }),
  'schedule.created': (entry) => t('created the schedule {name}', { name: entry.raw('name') }),
  'schedule.changed': (entry) => t('changed the schedule {name}', { name: entry.raw('name') }),
  'schedule.deleted': (entry) => t('deleted the schedule {name}', { name: entry.raw('name') }),
  'schedule.resumed': (entry) => t('resumed the schedule {name}', { name: entry.raw('name') }),
  'schedule.paused': (entry) => {
    const name = entry.raw('name')
    if (entry.is('reason', 'failures')) return t('paused the schedule {name} after five failures in a row', { name })
    if (entry.is('reason', 'creator_left')) return t('paused the schedule {name}, whose creator has left', { name })
    return t('paused the schedule {name}', { name })
  },
  'user.passkey_added': () => t('added a passkey to their account'),
  'user.passkey_counter_refused': () => t('was refused a sign-in with a passkey that may have been copied'),
  'user.passkey_removed': () => t('removed a passkey from their account'),
  'webhook.disabled': (entry) =>
    entry.isSet('installation_id')
      ? t('turned off a webhook of {agent} after too many failures', { agent: entry.of('installation_id') })
      : t('turned off a webhook of its own'),
  'webhook.enabled': () => t('turned on a webhook of its own'),
  'webhook.paused': (entry) =>
    t('paused the webhook of {agent} to {origin}', { agent: entry.of('installation_id'), origin: entry.raw('origin') }),
  'webhook.resumed': (entry) =>
    t('resumed the webhook of {agent} to {origin}', {
      agent: entry.of('installation_id'),
      origin: entry.raw('origin'),
    }),
  'webhook.updated': (entry) => t('changed a webhook of its own ({fields})', { fields: entry.listed('fields') }),
  'workspace.approval_rules_changed': () => t('changed the approval rules'),
  'workspace.bans_changed': (entry) => t('changed what agents may not do here ({fields})', { fields: entry.fields }),
  'workspace.cross_agent_changed': (_, { after }) =>
    Object.values(after ?? {}).includes(true)
      ? t('let agents call each other')
      : t('stopped agents from calling each other'),
  'workspace.deletion_cancelled': () => t('kept the workspace after all'),
  'workspace.deletion_requested': (entry) =>
    t('asked to delete the workspace on {time}', { time: entry.time('deletes_at') }),
  'workspace.edited': (entry) => t('changed the workspace ({fields})', { fields: entry.listed('fields') }),
  'workspace.hosts_changed': () => t('changed which assistants may connect'),
  'workspace.primary_agent_changed': (entry, { after }) =>
    single(after) ? t('made {agent} the primary agent', { agent: entry.to }) : t('chose to have no primary agent'),
  'workspace.recovered': (entry) => t('made {person} the owner by a recovery', { person: entry.subject }),
  'workspace.removed': () => t('deleted the workspace'),
}

/**
 * Returns what an entry's actor did to which record. Undefined for actions that have no sentence.
 * @param fullTime formats a time for the reader
 */
export const deedOf = (entry: AuditedEntry, fullTime: (at: string) => string): string | undefined =>
  DEEDS[entry.action]?.(readerOf(entry, fullTime), entry)
