import { GrantEntity } from '#shared/access/grants/entity.ts'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { OccurrenceEntity, ScheduleEntity } from '#shared/agents/schedules/entity.ts'
import { AppEntity, AppStandingEntity } from '#shared/catalogue/apps/entity.ts'
import { listingWrites } from '#shared/catalogue/apps/list-app.ts'
import { ReviewItemEntity } from '#shared/catalogue/review-queue/entity.ts'
import { VersionEntity } from '#shared/catalogue/versions/entity.ts'
import { FeedEntryEntity, FeedHeadEntity, FeedMarkEntity } from '#shared/delivery/feed/entity.ts'
import { DeliveryEntity } from '#shared/delivery/webhooks/entity.ts'
import { OutboxEntity } from '#shared/foundation/outbox/entity.ts'
import { DeveloperEntity } from '#shared/identity/developers/entity.ts'
import { newDeveloper } from '#shared/identity/developers/member-list.ts'
import { NotificationEntity } from '#shared/identity/notifications/entity.ts'
import {
  InvitationEntity,
  MemberEntity,
  UserEntity,
  type Workspace,
  WorkspaceEntity,
} from '#shared/identity/people/entity.ts'
import { type EndedState, ObservedRunEntity } from '#shared/insight/observed-runs/entity.ts'
import { AppLogEntity } from '#shared/insight/statistics/entity.ts'
import { logEntryOf } from '#shared/insight/statistics/log.ts'
import { utcDate } from '#shared/kernel/clock.ts'
import { type IdKind, type IdTime, idFloor, idTime, newId } from '#shared/kernel/ids.ts'
import { AgentRequestEntity } from '#shared/marketplace/requests/entity.ts'
import { AppReviewEntity, DeveloperReviewEntity, ReviewEntity } from '#shared/marketplace/reviews/entity.ts'
import { ThreadMessageEntity } from '#shared/messaging/messenger/entity.ts'
import { AbuseReportEntity } from '#shared/moderation/abuse/entity.ts'
import { AppMessageEntity } from '#shared/moderation/correspondence/entity.ts'
import { VerificationEntity } from '#shared/moderation/verification/entity.ts'
import { AdminEntity } from '#shared/staff/admins/entity.ts'
import { AuditEntity } from '#shared/staff/audit/entity.ts'
import { placeOfDeveloper, placeOfWorkspace, rosterWrites } from '#shared/staff/roster/places.ts'
import type { Write } from '#shared/table/entity.ts'
import { ConversationEntity, MessageEntity } from '#shared/work/conversations/entity.ts'
import { FileEntity } from '#shared/work/files/entity.ts'
import { type Run, RunEntity, WorkspaceRunEntity } from '#shared/work/runs/entity.ts'
import { AssignedTaskEntity, TaskEntity } from '#shared/work/tasks/entity.ts'
import { ThreadEntity } from '#shared/work/threads/entity.ts'
import type { World } from './world.ts'

/** One record in this many matches a filter. */
const ONE_IN = 4

/**
 * Builds the records at one place of every list, as the platform would write them. All records of a kind have the same size.
 * @param at epoch ms, later with every place
 */
export const recordsAt = async (world: World, n: number, at: number): Promise<Write[]> => {
  const place = placeAt(world, n, at)
  return [
    ...task(place),
    ...talk(place),
    ...file(place),
    ...run(place),
    ...event(place, n),
    ...delivery(place),
    ...schedule(place),
    ...member(place),
    ...invitation(place),
    ...(await installed(place)),
    ...version(place),
    ...review(place),
    ...correspondence(place),
    ...moderated(place),
    ...log(place),
    ...request(place),
    ...complaint(place),
    ...staff(place),
    ...rosters(place),
    ...audit(place),
    ...notification(place),
    ...chat(place),
  ]
}

/** Builds only the runs, events and deliveries of a place, the most frequent records. */
export const busiestRecordsAt = (world: World, n: number, at: number): Write[] => {
  const place = placeAt(world, n, at)
  return [...run(place), ...event(place, n), ...delivery(place)]
}

const placeAt = (world: World, n: number, ms: number): Place => {
  const at = idTime(idFloor('run', ms))
  const { installation, workspaceId: workspace_id, person } = world
  return {
    world,
    at,
    picked: n % ONE_IN === 0,
    number: String(n).padStart(8, '0'),
    id: (kind) => newId(kind, at),
    common: { workspace_id, created_at: at },
    user: { type: 'user', id: person.user.id, name: person.user.name },
    agent: { installation_id: installation.id, slug: installation.app_slug, name: installation.app_name },
  }
}

interface Place {
  world: World
  at: IdTime
  /** True if it matches the filter. */
  picked: boolean
  number: string
  id(kind: IdKind): string
  common: { workspace_id: string; created_at: IdTime }
  user: { type: 'user'; id: string; name: string }
  agent: { installation_id: string; slug: string; name: string }
}

const TEXT = 'Forty pieces on the upper shelf, three on the lower one; the rest is on its way from the other store.'

const task = ({ id, common, user, agent, at, picked }: Place): Write[] => {
  const task_id = id('task')
  const conversation_id = id('conversation')
  return [
    ConversationEntity.replace({ ...common, id: conversation_id, kind: 'task', title: 'Count the stock', task_id }),
    TaskEntity.replace({
      ...common,
      id: task_id,
      title: 'Count the stock',
      description: TEXT,
      status: picked ? 'review' : 'todo',
      audience: 'member',
      assignee: agent,
      created_by: user,
      conversation_id,
      chain_depth: 0,
      revision: 1,
      updated_at: at,
    }),
    AssignedTaskEntity.replace({ ...common, installation_id: agent.installation_id, task_id }),
  ]
}

const talk = ({ world, id, common, user, agent, at }: Place): Write[] => [
  ConversationEntity.replace({
    ...common,
    id: id('conversation'),
    kind: 'agent',
    title: 'With the agent',
    installation_id: agent.installation_id,
    user_id: user.id,
    last_message_at: at,
  }),
  MessageEntity.replace({
    ...common,
    id: id('message'),
    conversation_id: world.conversationId,
    author: user,
    text: TEXT,
    attachments: [],
  }),
]

/** Builds another thread of the workspace's bot, and another message in its first thread. */
const chat = ({ world, id, common, at }: Place): Write[] => {
  const { account_id, conversation_id, id: thread_id } = world.messenger
  const contact = { type: 'contact' as const, id: thread_id, name: 'Cleo' }
  return [
    ThreadEntity.replace({
      ...common,
      id: id('thread'),
      account_id,
      chat_id: at,
      conversation_id: id('conversation'),
      title: 'Cleo',
      last_message: { id: id('message'), text: TEXT, direction: 'in' },
      last_message_at: at,
      last_incoming_at: at,
    }),
    ThreadMessageEntity.replace({
      ...common,
      id: id('message'),
      conversation_id,
      thread_id,
      author: contact,
      direction: 'in',
      status: 'received',
      content: 'text',
      text: TEXT,
      attachments: [],
      telegram_message_id: at,
    }),
  ]
}

const audit = ({ id, common, agent, user, at, picked }: Place): Write[] => [
  AuditEntity.create({
    id: id('audit'),
    scope: common.workspace_id,
    action: picked ? 'agent.called' : 'approval.approved',
    actor: user,
    target: { type: 'agent', id: agent.installation_id },
    details: { tool: 'http_fetch', agent: agent.slug },
    chain: { day: utcDate(at), seq: 1, previous: '', hash: '' },
    created_at: at,
  }),
]

const notification = ({ id, common, agent, user, picked }: Place): Write[] => [
  NotificationEntity.replace({
    ...common,
    id: id('notification'),
    ...(picked && { user_id: user.id }),
    kind: 'agent.notice',
    title: 'Stock is low',
    body: TEXT,
    installation_id: agent.installation_id,
  }),
]

const file = ({ world, id, common, user, picked }: Place): Write[] => [
  FileEntity.replace({
    ...common,
    id: id('file'),
    ...(picked && { folder_id: world.folderId }),
    name: 'stock.csv',
    content_type: 'text/csv',
    size: 2_048,
    status: 'ready',
    created_by: user,
  }),
]

const runAt = ({ world, id, common, at, picked }: Place): Run => {
  const { installation } = world
  const run_id = id('run')
  return {
    ...common,
    installation_id: installation.id,
    id: run_id,
    app_id: installation.app_id,
    agent_id: installation.agent_id,
    version: installation.version,
    version_id: installation.version_id,
    status: picked ? 'failed' : 'succeeded',
    trigger: 'bench',
    input: { json: JSON.stringify({ question: 'How many are left?' }) },
    output: { json: JSON.stringify({ text: TEXT }) },
    is_sandbox: false,
    request_id: id('request'),
    audience: 'member',
    chain_id: run_id,
    chain_depth: 0,
    chain_deadline: at,
    step_count: 1,
    last_seq: 1,
    step_bytes: 200,
    stream_seq: 4,
    transitions: [{ seq: 1, status: 'queued' }],
    started_at: at,
    finished_at: at,
  }
}

const run = (place: Place): Write[] => {
  const made = runAt(place)
  const { id: run_id, installation_id, app_id, workspace_id, created_at } = made
  const state = made.status as EndedState
  return [
    RunEntity.replace(made),
    WorkspaceRunEntity.replace({ ...place.common, installation_id, run_id }),
    ObservedRunEntity.replace({ workspace_id, state, run_id, installation_id, app_id, created_at }),
  ]
}

const event = ({ id, common, agent, picked }: Place, n: number): Write[] => {
  const { installation_id } = agent
  const type = picked ? 'custom.counted' : 'run.succeeded'
  const event_id = id('event')
  const entry = { installation_id, n: n + 1, event_id, created_at: common.created_at }
  return [
    OutboxEntity.replace({ ...common, id: event_id, type, installation_id, data: JSON.stringify({ text: TEXT }) }),
    FeedEntryEntity.replace({ ...entry, type, own: false }),
    FeedMarkEntity.replace(entry),
    FeedHeadEntity.replace({ installation_id, floor: n + 1 }),
  ]
}

/** Builds another schedule, and another occurrence of the first one. */
const schedule = ({ world, id, common, user, agent, at, picked }: Place): Write[] => [
  ScheduleEntity.replace({
    ...common,
    id: id('schedule'),
    installation_id: agent.installation_id,
    app_id: world.app.id,
    name: 'Weekly summary',
    start: JSON.stringify({ input: { question: TEXT } }),
    when: { cron: '0 9 * * MON', time_zone: 'Europe/Amsterdam' },
    overlap: 'skip',
    missed: 'latest',
    status: picked ? 'active' : 'ended',
    revision: 1,
    anchor: at,
    failures: 0,
    created_by: user,
    changed_at: at,
  }),
  OccurrenceEntity.replace({
    id: id('occurrence'),
    created_at: at,
    schedule_id: world.scheduleId,
    installation_id: agent.installation_id,
    status: 'skipped',
    at,
    reason: 'overlap',
  }),
]

const delivery = ({ world, id, common, agent, at }: Place): Write[] => [
  DeliveryEntity.replace({
    ...common,
    id: id('delivery'),
    webhook_id: world.webhookId,
    installation_id: agent.installation_id,
    app_id: world.app.id,
    event_id: id('event'),
    event_type: 'run.succeeded',
    status: 'succeeded',
    attempt: 1,
    round_start: 0,
    generation: 0,
    next_attempt_at: null,
    attempts: [{ n: 1, at, duration_ms: 120, response_code: 200, response_body: 'ok', error: null, hint: null }],
  }),
]

const member = ({ world, id, common, number, at }: Place): Write[] => {
  const user_id = id('user')
  const name = `Person ${number}`
  return [
    UserEntity.replace({ ...world.person.user, id: user_id, name, identity: `bench:${number}`, created_at: at }),
    MemberEntity.replace({ workspace_id: common.workspace_id, user_id, name, role: 'member', joined_at: at }),
  ]
}

const invitation = ({ id, common, user, number, at }: Place): Write[] => [
  InvitationEntity.replace({
    ...common,
    id: id('invitation'),
    nonce_hash: number.padStart(64, '0'),
    role: 'member',
    created_by: user.id,
    expires_at: at + 7 * 86_400_000,
  }),
]

/** Builds another agent of the workspace, of a separate app. */
const installed = async ({ world, id, common, number, at, picked }: Place): Promise<Write[]> => {
  const of = { app_id: id('app'), installation_id: id('installation') }
  const version_id = id('version')
  const slug = `agent-${number}`
  const offered = {
    ...world.app,
    id: of.app_id,
    slug,
    summary: picked ? 'Stock, picked' : 'Stock',
    category: picked ? 'support' : 'sales',
    created_at: at,
  }
  return [
    AppEntity.replace(offered),
    ...(await listingWrites(undefined, { app: offered, developerName: 'Ada', listed_at: at, featured_at: undefined })),
    VersionEntity.replace({ ...world.version, app_id: of.app_id, id: version_id, created_at: at }),
    InstallationEntity.replace({
      ...world.installation,
      ...common,
      id: of.installation_id,
      app_id: of.app_id,
      app_slug: slug,
      version_id,
    }),
    GrantEntity.replace({ ...world.grant, ...common, ...of, id: id('grant') }),
  ]
}

const version = ({ world, id, number, at }: Place): Write[] => [
  VersionEntity.replace({
    ...world.version,
    app_id: world.developed.id,
    id: id('version'),
    version: `1.0.0-${number}`,
    created_at: at,
  }),
]

/** Builds reviews of the installed agent and of the developer's own app. */
const review = ({ world, id, common, user, at, picked }: Place): Write[] =>
  [world.app.id, world.developed.id].flatMap((app_id) => {
    const of = { developer_id: world.developed.developerId }
    const review_id = id('review')
    return [
      ReviewEntity.replace({
        ...of,
        ...common,
        id: review_id,
        app_id,
        workspace_name: 'Workspace',
        author: { id: user.id, name: user.name },
        rating: 4,
        text: TEXT,
        hidden: false,
        revision: 1,
        updated_at: at,
      }),
      DeveloperReviewEntity.replace({ ...of, review_id, answered: !picked, hidden: false }),
      AppReviewEntity.replace({ app_id, review_id, rating: 4, hidden: false }),
    ]
  })

const correspondence = ({ world, id, at }: Place): Write[] => [
  AppMessageEntity.replace({
    id: id('message'),
    app_id: world.developed.id,
    author: { type: 'developer', id: world.developed.developerId, name: 'Ada' },
    text: TEXT,
    created_at: at,
  }),
]

/** Builds an app and a version that wait for review, an app by its status, and an application for the verified badge. */
const moderated = ({ world, id, at, picked, common }: Place): Write[] => {
  const app_id = world.developed.id
  const queued = { app_id, kind: picked ? ('version' as const) : ('app' as const), waiting_since: at }
  return [
    ReviewItemEntity.replace({ ...queued, subject: id('version') }),
    AppStandingEntity.replace({ app_id: id('app'), type: 'agent', status: picked ? 'delisted' : 'draft' }),
    VerificationEntity.replace({
      id: id('verification'),
      developer_id: world.developed.developerId,
      status: picked ? 'rejected' : 'pending',
      legal_name: 'Example Ltd',
      website: 'https://example.com/',
      contact_email: 'legal@example.com',
      country: 'NL',
      about: TEXT,
      created_at: common.created_at,
    }),
  ]
}

const log = (place: Place): Write[] => [
  AppLogEntity.replace(logEntryOf({ ...runAt(place), app_id: place.world.developed.id })),
]

const staff = ({ id, at, number }: Place): Write[] => [
  AdminEntity.replace({
    id: id('admin'),
    email: `mo-${number}@example.com`,
    name: 'Mo',
    role: 'moderator',
    password_hash: '',
    session_version: 1,
    created_at: at,
  }),
]

/** Builds another developer and another workspace in the admins' lists. Totals are read in one query, whatever their value. */
const rosters = ({ id, at, number, picked, common }: Place): Write[] => {
  const developer = newDeveloper({
    id: id('developer'),
    email: `developer-${number}@example.com`,
    name: `Developer ${number}`,
    status: picked ? 'blocked' : 'active',
    verified: false,
    sandbox_workspace_id: common.workspace_id,
    key_hash: number,
    language: 'en',
    created_at: at,
  })
  const workspace: Workspace = {
    id: id('workspace'),
    name: `Organization ${number}`,
    is_sandbox: false,
    status: picked ? 'suspended' : 'active',
    locale: 'en',
    time_zone: 'UTC',
    cross_agent_enabled: true,
    denied_tools: [],
    denied_scopes: [],
    created_at: at,
  }
  return [
    DeveloperEntity.replace(developer),
    WorkspaceEntity.replace(workspace),
    ...[placeOfDeveloper(developer), placeOfWorkspace(workspace)].flatMap((place) =>
      rosterWrites(undefined, place).filter(({ kind }) => kind === 'put'),
    ),
  ]
}

const complaint = ({ id, common, picked, world }: Place): Write[] => [
  AbuseReportEntity.replace({
    id: id('abuseReport'),
    app_id: world.app.id,
    workspace_id: world.workspaceId,
    user_id: world.person.user.id,
    category: 'other',
    text: TEXT,
    status: picked ? 'upheld' : 'open',
    created_at: common.created_at,
  }),
]

const request = ({ id, common, picked, world }: Place): Write[] => [
  AgentRequestEntity.replace({
    ...common,
    id: id('agentRequest'),
    title: 'An agent that counts',
    description: TEXT,
    votes: 3,
    status: picked ? 'claimed' : 'open',
    asked_by: world.person.user.id,
  }),
]
