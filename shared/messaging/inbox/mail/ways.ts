import type { NotificationPreferences } from '../entity.ts'
import { KIND_NAMES, type NotificationKind } from '../kinds.ts'

/** How a person gets notifications of a kind by e-mail. */
export type MailWay = 'none' | 'at_once' | 'digest'

/** Kinds that wait for the person, are addressed to them, or concern the safety of their account and apps. */
const AT_ONCE: ReadonlySet<string> = new Set<NotificationKind>([
  'run.awaiting_approval',
  'agent.question',
  'task.question',
  'task.assigned',
  'messenger.draft',
  'messenger.disconnected',
  'grant.revoked',
  'account.passkeys',
  'account.email',
  'workspace.deleting',
])

const defaultWay = (kind: string): MailWay => (AT_ONCE.has(kind) ? 'at_once' : 'digest')

/** Returns how a person gets notifications of a kind by e-mail, apart from whether they get digests at all. */
export const mailWay = (preferences: NotificationPreferences | undefined, kind: string): MailWay =>
  preferences?.mail_off ? 'none' : (preferences?.mail_ways?.[kind] ?? defaultWay(kind))

/** Returns the kinds that come one way, as the person chose them. */
export const kindsBy = (preferences: NotificationPreferences | undefined, way: MailWay): NotificationKind[] =>
  KIND_NAMES.filter((kind) => (preferences?.mail_ways?.[kind] ?? defaultWay(kind)) === way)

/** Returns what differs from the defaults, to be stored. */
export const mailWays = (at_once: readonly string[], digest: readonly string[]): Record<string, MailWay> => {
  const chosen = (kind: string): MailWay =>
    at_once.includes(kind) ? 'at_once' : digest.includes(kind) ? 'digest' : 'none'
  return Object.fromEntries(
    KIND_NAMES.filter((kind) => chosen(kind) !== defaultWay(kind)).map((kind) => [kind, chosen(kind)]),
  )
}
