import { AbuseReportEntity, OpenAbuseReportEntity, SentAbuseReportEntity } from '../../entities/abuse.ts'
import * as apps from '../../entities/apps.ts'
import * as bot from '../../entities/bot.ts'
import * as conversations from '../../entities/conversations.ts'
import * as developers from '../../entities/developers.ts'
import * as events from '../../entities/events.ts'
import * as files from '../../entities/files.ts'
import { FormerMemberEntity } from '../../entities/former-members.ts'
import * as inbox from '../../entities/inbox.ts'
import * as inline from '../../entities/inline.ts'
import * as installations from '../../entities/installations.ts'
import * as listening from '../../entities/listening.ts'
import { LooseResultEntity } from '../../entities/loose-results.ts'
import * as messenger from '../../entities/messenger.ts'
import * as moderation from '../../entities/moderation.ts'
import * as notifications from '../../entities/notifications.ts'
import * as oauth from '../../entities/oauth.ts'
import { ObservedRunEntity } from '../../entities/observed-runs.ts'
import * as people from '../../entities/people.ts'
import * as platform from '../../entities/platform.ts'
import { PlatformHourEntity, PlatformNowEntity } from '../../entities/platform-statistics.ts'
import * as reviewQueue from '../../entities/review-queue.ts'
import * as reviews from '../../entities/reviews.ts'
import * as roster from '../../entities/roster.ts'
import * as runs from '../../entities/runs.ts'
import * as sandbox from '../../entities/sandbox.ts'
import * as statistics from '../../entities/statistics.ts'
import * as tasks from '../../entities/tasks.ts'
import * as totals from '../../entities/totals.ts'
import * as updates from '../../entities/updates.ts'
import { UpgradeEntity } from '../../entities/upgrades.ts'
import * as webhooks from '../../entities/webhooks.ts'
import type { AnyEntity, ItemOf, Key } from '../../table/entity.ts'
import { objectOf } from '../files/loose.ts'

/**
 * What becomes of each kind of record when its workspace is removed (decisions §3 "Leaving"); a test fails for a new one that
 * is not here.
 */
export interface Fate {
  entity: AnyEntity
  /**
   * `goes`: it is removed, with what it leads to. `expires`: it vanishes by itself, has no use without what went, and holds ids
   * and hashes only, or what is gone within `days`. `stays`: it is somebody else's, or meant to be kept.
   */
  fate: 'goes' | 'expires' | 'stays'
  /** Days after which what nothing leads to has vanished by itself, counted from when the workspace's grace ended. */
  days?: number
  /** Partitions that belong to it alone: they are emptied before it goes, so that it leads to them until then. */
  partitions?(item: never): string[]
  /** The same for narrowed lists of records that lie elsewhere. */
  lists?(item: never): string[]
  /** Records elsewhere that go with it. */
  twins?(item: never): Key[]
  /** Objects in the bucket, beside those that a record's own fields name. */
  objects?(item: never): string[]
}

type How<E> = {
  [K in 'partitions' | 'lists' | 'objects']?: (item: ItemOf<E>) => string[]
} & { twins?: (item: ItemOf<E>) => Key[]; days?: number }

const goes = <E extends AnyEntity>(entity: E, how: How<E> = {}): Fate => ({ entity, fate: 'goes', ...how })
const expires = (days: number, ...entities: AnyEntity[]): Fate[] =>
  entities.map((entity) => ({ entity, fate: 'expires', days }))
const stays = (...entities: AnyEntity[]): Fate[] => entities.map((entity) => ({ entity, fate: 'stays' }))

const { RunEntity } = runs

/** What hangs on an installation's id, also on that of the orchestrator, which has no record of its own. */
const ofInstallation = (id: string): string[] => [
  RunEntity.partition({ installation_id: id }),
  runs.ChainMarkEntity.partition({ installation_id: id }),
  events.FeedEntryEntity.partition({ installation_id: id }),
  developers.CounterEntity.partition({ owner: id }),
]
const ofEvent = ({ event_id }: { event_id: string }): string[] => [events.OutboxEntity.partition({ id: event_id })]
const content = ({ workspace_id, id }: { workspace_id: string; id: string }) => [objectOf(workspace_id, id)]

/** Where a workspace's records begin, beside its own partition. */
export const rootsOf = (workspaceId: string): string[] => [
  people.WorkspaceEntity.partition({ id: workspaceId }),
  developers.CounterEntity.partition({ owner: workspaceId }),
  statistics.WorkspaceNowEntity.partition({ workspace_id: workspaceId }),
  ...Array.from({ length: statistics.WORKSPACE_SHARDS }, (_, shard) =>
    statistics.AgentDayEntity.partition({ workspace_id: workspaceId, shard }),
  ),
]

const ALL: Fate[] = [
  // The workspace and who is in it.
  goes(people.WorkspaceEntity),
  goes(people.MemberEntity, { twins: (member) => [people.MembershipEntity.key(member)] }),
  goes(people.MembershipEntity),
  goes(FormerMemberEntity),
  goes(people.InvitationEntity, { twins: (invitation) => [people.InvitationLinkEntity.key(invitation)] }),
  goes(developers.CounterEntity),
  goes(updates.UpdatesEntity),
  goes(statistics.AgentDayEntity),
  goes(statistics.WorkspaceNowEntity),
  goes(statistics.CountedStateEntity),
  goes(sandbox.SeedEntity),
  goes(listening.ListenerEntity),
  // Agents and what they did.
  goes(installations.InstallationEntity, {
    partitions: ({ id }) => ofInstallation(id),
    lists: ({ id }) => [oauth.secretsOf(id)],
  }),
  goes(installations.AppInstallationEntity),
  goes(installations.InstallationPlaceEntity),
  goes(installations.RemovalEntity),
  goes(installations.GrantEntity),
  goes(oauth.AuthorizationCodeEntity),
  goes(oauth.RefreshTokenEntity),
  goes(RunEntity, { partitions: ({ id }) => [runs.StepEntity.partition({ run_id: id })] }),
  goes(runs.WorkspaceRunEntity, {
    partitions: ({ run_id, installation_id }) => [
      runs.StepEntity.partition({ run_id }),
      ...ofInstallation(installation_id),
    ],
  }),
  goes(runs.StepEntity),
  goes(ObservedRunEntity),
  goes(runs.ApprovalEntity),
  goes(runs.ApprovedCallEntity),
  goes(runs.ChainMarkEntity),
  goes(inline.InlineRunEntity),
  goes(inline.InlineTurnEntity),
  goes(inline.InlineCallEntity),
  goes(webhooks.SubscriptionEntity, {
    partitions: ({ id }) => [webhooks.DeliveryEntity.partition({ webhook_id: id })],
  }),
  // Those of a subscription that was deleted before are led to by nothing.
  goes(webhooks.DeliveryEntity, { partitions: ofEvent, days: 30 }),
  goes(events.FeedEntryEntity, { partitions: ofEvent }),
  goes(events.FeedMarkEntity, { partitions: ofEvent }),
  goes(events.FeedHeadEntity),
  // What people made.
  goes(tasks.TaskEntity),
  goes(LooseResultEntity),
  goes(tasks.AssignedTaskEntity),
  goes(tasks.TaskRunEntity),
  goes(conversations.ConversationEntity, {
    partitions: ({ id }) => [conversations.MessageEntity.partition({ conversation_id: id })],
  }),
  goes(conversations.MessageEntity),
  goes(conversations.PersonChatEntity),
  goes(conversations.ChatEntity),
  goes(conversations.WaitingMessageEntity),
  goes(files.FileEntity, { objects: content }),
  goes(files.LooseObjectEntity, {
    objects: ({ workspace_id, file_id }) => [objectOf(workspace_id, file_id)],
  }),
  goes(files.FolderEntity),
  goes(notifications.NotificationEntity, {
    partitions: ({ id }) => [inbox.ToldPersonEntity.partition({ notification_id: id })],
  }),
  goes(inbox.ToldPersonEntity),
  goes(inbox.ReadStateEntity),
  goes(inbox.NotificationPreferencesEntity),
  goes(reviews.WorkspaceReviewEntity),
  goes(reviews.ReviewEntity),
  goes(reviews.DeveloperReviewEntity),
  goes(reviews.AppReviewEntity),
  goes(reviews.AskedRequestEntity),
  goes(reviews.AgentRequestEntity),
  goes(SentAbuseReportEntity),
  goes(OpenAbuseReportEntity),
  goes(AbuseReportEntity),
  // Messengers.
  goes(messenger.AccountEntity, {
    partitions: ({ id }) => [messenger.AccountWebhookEntity.partition({ account_id: id })],
  }),
  goes(messenger.AccountWebhookEntity),
  goes(messenger.DialogEntity, {
    partitions: ({ id, conversation_id }) => [
      messenger.KnownMessageEntity.partition({ dialog_id: id }),
      conversations.MessageEntity.partition({ conversation_id }),
    ],
  }),
  goes(messenger.DialogOfChatEntity),
  goes(messenger.DialogMessageEntity),
  goes(messenger.KnownMessageEntity),
  goes(messenger.DraftEntity),
  goes(messenger.OutgoingEntity),
  // Events that no installation saw are reached by nothing; those that one saw go with its feed.
  ...expires(31, events.OutboxEntity),
  ...expires(32, statistics.CountedEventEntity, inbox.NotifiedEventEntity),
  ...expires(2, people.SessionEntity, platform.KeptEntity, oauth.ConsentEntity, platform.BucketEntity),
  ...expires(2, platform.OpenStreamsEntity, people.UsedSignInEntity, bot.BotUpdateEntity),
  ...expires(8, people.InvitationLinkEntity),
  ...expires(1, listening.ListenedRequestEntity, listening.ListenedMessageEntity),
  // The developer's: what their app did, by ids, for 30 days, and counts.
  ...expires(31, statistics.AppLogEntity),
  ...stays(statistics.AppTotalEntity, statistics.AppDayEntity, reviews.ReviewTotalsEntity, totals.ListTotalEntity),
  ...stays(PlatformHourEntity, PlatformNowEntity),
  // Kept for 2 years, and never changed.
  ...stays(platform.AuditEntity),
  // People, who outlive a workspace. Their votes go with themselves.
  ...stays(people.UserEntity, people.IdentityEntity, bot.BotChatEntity, reviews.RequestVoteEntity),
  ...stays(messenger.TelegramPersonEntity, messenger.BusinessConnectionEntity),
  // Developers, their apps, and the platform's own.
  ...stays(
    apps.AppEntity,
    apps.ListedAppEntity,
    apps.ListingPlaceEntity,
    apps.DeveloperAppEntity,
    apps.VersionEntity,
    apps.VersionNameEntity,
    developers.DeveloperEntity,
    developers.DeveloperKeyEntity,
    developers.ClaimEntity,
    moderation.VerificationEntity,
    moderation.AppMessageEntity,
    moderation.AppThreadEntity,
    moderation.AppStandingEntity,
    moderation.AppChecksEntity,
    reviewQueue.ReviewItemEntity,
    reviewQueue.ReviewClaimEntity,
    events.SweepMarkEntity,
    platform.AdminEntity,
    platform.AdminKeyEntity,
    platform.NamedAdminKeyEntity,
    platform.StoppageEntity,
    roster.RosterEntity,
    roster.RosterNameEntity,
    platform.PlatformSettingsEntity,
    platform.PlatformIdentityEntity,
    UpgradeEntity,
  ),
]

/** By the entity's name. */
export const FATES: ReadonlyMap<string, Fate> = new Map(ALL.map((fate) => [fate.entity.name, fate]))

/** Objects that a record's fields name (`storePayload`, `storeResult`), at any depth. */
export const payloadsIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return []
  const { object } = value as { object?: unknown }
  const own = typeof object === 'string' && /^(payloads|tasks)\//.test(object) ? [object] : []
  return [...own, ...Object.values(value).flatMap(payloadsIn)]
}
