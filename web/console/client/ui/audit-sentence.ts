import { csvOf } from '../../../ui/csv.ts'
import { t } from '../../../ui/messages.ts'
import type { components } from '../../../ui/platform.d.ts'

type Entry = components['schemas']['AuditEntry']

/** Names an actor. Their id is among the details. */
export const nameOf = ({ type, name }: Entry['actor']): string => {
  if (type === 'system' || type === 'platform') return t('The platform')
  if (type === 'admin') return t('An admin of the platform')
  return (
    name ??
    t(
      '{type, select, agent {An agent} installation {An agent} app {An app} user {A user} developer {A developer} other {The platform}}',
      { type },
    )
  )
}

/** Screens of records, by their type. */
const SCREENS: Record<string, string> = {
  run: '/runs',
  task: '/tasks',
  conversation: '/chat',
  installation: '/agents',
  agent: '/agents',
}

/** Returns the screen of a record. Undefined if it has none. */
export const screenOf = ({ type, id }: Entry['subject']): string | undefined => {
  if (type === 'user' || type === 'member' || type === 'invitation') return '/members'
  return SCREENS[type] && `${SCREENS[type]}/${encodeURIComponent(id)}`
}

/** Formats entries as CSV. */
export const auditCsv = (entries: readonly Entry[]): string =>
  csvOf([
    ['time', 'actor', 'actor_id', 'action', 'subject', 'subject_type', 'subject_id', 'request_id', 'details'],
    ...entries.map(({ created_at, actor, action, subject, request_id, before, after, details }) => [
      created_at,
      nameOf(actor),
      actor.id,
      action,
      subject.name ?? '',
      subject.type,
      subject.id,
      request_id ?? '',
      JSON.stringify({ before, after, ...details }),
    ]),
  ])
