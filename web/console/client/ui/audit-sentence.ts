import { csvOf } from '../../../ui/csv.ts'
import { t } from '../../../ui/messages.ts'
import type { components } from '../../../ui/platform.d.ts'

type Entry = components['schemas']['AuditEntry']

/** Past tense of participles that differ from it. */
const PAST: Record<string, string> = {
  withdrawn: 'withdrew',
  given: 'gave',
  taken: 'took',
  begun: 'began',
  lost: 'lost',
}

/** Actions that have a phrase of their own. */
const OTHERS: Record<string, string> = {
  'member.away': t('is away'),
  'member.back': t('is back'),
}

/** Nouns that read better than the record's. */
const NOUNS: Record<string, string> = {
  user: 'person',
  grant: 'app’s access',
  host: 'assistant',
  installation: 'agent',
}

const spaced = (text: string): string => text.replaceAll('_', ' ')

/**
 * Returns what an entry's actor did, without names: "changed the role of the member" for `member.role_changed`. Unknown forms
 * are spelled out.
 */
export const deedOf = (action: string): string => {
  if (OTHERS[action]) return OTHERS[action]
  const parts = action.split('.')
  const words = (parts.pop() ?? '').split('_')
  const last = words.pop() ?? ''
  const noun = spaced(parts.map((part) => NOUNS[part] ?? part).join(' '))
  const verb = PAST[last] ?? (last.endsWith('ed') ? last : undefined)
  if (verb === undefined || noun === '') return spaced(action.replaceAll('.', ' '))
  const did = t('{verb, select, other {{verb}}}', { verb })
  const object = t('{key, select, other {{object}}}', { key: parts.join('_'), object: `the ${noun}` })
  return words.length > 0
    ? t('{did} the {part} of {object}', {
        did,
        object,
        part: t('{key, select, other {{part}}}', { key: words.join('_'), part: words.join(' ') }),
      })
    : t('{did} {object}', { did, object })
}

/** Names a record. Its id is among the details. */
export const nameOf = ({ type, name }: Entry['actor']): string => name ?? (type === 'system' ? t('The platform') : '')

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
      nameOf(subject),
      subject.type,
      subject.id,
      request_id ?? '',
      JSON.stringify({ before, after, ...details }),
    ]),
  ])
