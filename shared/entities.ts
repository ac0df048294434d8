import * as assertions from './access/assertions/entity.ts'
import * as consents from './access/consents/entity.ts'
import * as grants from './access/grants/entity.ts'
import * as hosts from './access/hosts/entity.ts'
import * as installations from './access/installations/entity.ts'
import * as a2a from './agents/a2a/entity.ts'
import * as exchanges from './agents/exchanges/entity.ts'
import * as inline from './agents/inline/entity.ts'
import * as outgoing from './agents/outgoing/entity.ts'
import * as outside from './agents/outside/entity.ts'
import * as sandbox from './agents/sandbox/entity.ts'
import * as schedules from './agents/schedules/entity.ts'
import * as agentCards from './catalogue/agent-cards/entity.ts'
import * as apps from './catalogue/apps/entity.ts'
import * as logos from './catalogue/logos/entity.ts'
import * as reviewQueue from './catalogue/review-queue/entity.ts'
import * as versions from './catalogue/versions/entity.ts'
import * as feed from './delivery/feed/entity.ts'
import * as webhooks from './delivery/webhooks/entity.ts'
import * as claims from './foundation/claims/entity.ts'
import * as counters from './foundation/counters/entity.ts'
import * as idempotency from './foundation/idempotency/entity.ts'
import * as limits from './foundation/limits/entity.ts'
import * as outbox from './foundation/outbox/entity.ts'
import * as overdue from './foundation/overdue/entity.ts'
import * as passkeys from './foundation/passkeys/entity.ts'
import * as signingKeys from './foundation/signing-keys/entity.ts'
import * as totals from './foundation/totals/entity.ts'
import * as updates from './foundation/updates/entity.ts'
import * as upgrades from './foundation/upgrades/entity.ts'
import * as developers from './identity/developers/entity.ts'
import * as mails from './identity/mails/entity.ts'
import * as notifications from './identity/notifications/entity.ts'
import * as people from './identity/people/entity.ts'
import * as live from './insight/live/entity.ts'
import * as observation from './insight/observation/entity.ts'
import * as observedRuns from './insight/observed-runs/entity.ts'
import * as statistics from './insight/statistics/entity.ts'
import * as requests from './marketplace/requests/entity.ts'
import * as reviews from './marketplace/reviews/entity.ts'
import * as bot from './messaging/bot/entity.ts'
import * as inbox from './messaging/inbox/entity.ts'
import * as mail from './messaging/inbox/mail/entity.ts'
import * as messenger from './messaging/messenger/entity.ts'
import * as abuse from './moderation/abuse/entity.ts'
import * as correspondence from './moderation/correspondence/entity.ts'
import * as review from './moderation/review/entity.ts'
import * as suspension from './moderation/suspension/entity.ts'
import * as verification from './moderation/verification/entity.ts'
import * as admins from './staff/admins/entity.ts'
import * as audit from './staff/audit/entity.ts'
import * as platform from './staff/platform/entity.ts'
import * as roster from './staff/roster/entity.ts'
import type { AnyEntity } from './table/entity.ts'

import * as answering from './work/answering/entity.ts'
import * as approvalRules from './work/approval-rules/entity.ts'
import * as budgets from './work/budgets/entity.ts'
import * as conversations from './work/conversations/entity.ts'
import * as desk from './work/desk/entity.ts'
import * as files from './work/files/entity.ts'
import * as receipts from './work/receipts/entity.ts'
import * as runs from './work/runs/entity.ts'
import * as tasks from './work/tasks/entity.ts'
import * as threads from './work/threads/entity.ts'

const isEntity = (value: unknown): value is AnyEntity =>
  typeof value === 'object' && value !== null && 'schema' in value && 'retention' in value

/** Every entity by its name, for code that handles whatever is stored: removals, recorded shapes, tests. */
export const ENTITIES: ReadonlyMap<string, AnyEntity> = new Map(
  [
    consents,
    grants,
    hosts,
    assertions,
    installations,
    a2a,
    exchanges,
    inline,
    outgoing,
    outside,
    sandbox,
    schedules,
    agentCards,
    apps,
    logos,
    reviewQueue,
    versions,
    feed,
    webhooks,
    claims,
    counters,
    idempotency,
    limits,
    outbox,
    overdue,
    passkeys,
    signingKeys,
    totals,
    updates,
    upgrades,
    developers,
    mails,
    notifications,
    people,
    live,
    observation,
    observedRuns,
    statistics,
    requests,
    reviews,
    bot,
    inbox,
    mail,
    messenger,
    abuse,
    correspondence,
    review,
    suspension,
    verification,
    admins,
    audit,
    platform,
    roster,
    answering,
    approvalRules,
    budgets,
    conversations,
    desk,
    files,
    receipts,
    runs,
    tasks,
    threads,
  ]
    .flatMap((module) => Object.values<unknown>(module).filter(isEntity))
    .map((entity) => [entity.name, entity]),
)
