import type { Work } from '#shared/foundation/work/index.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { fail, type PlatformError } from '#shared/kernel/errors.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { ConditionFailed, type Write } from '#shared/table/entity.ts'
import { lte } from '#shared/table/expressions.ts'
import { BotUpdateEntity, type BotUpdateRecord } from './entity.ts'

/** Lease on answering one update. */
export interface UpdateLease {
  /** Set when an earlier attempt already added the person to a workspace. */
  joinedWorkspaceId: string | undefined
  /** Part of the transaction in which the person joins. */
  joined(workspaceId: string): Write
  /** True when an earlier attempt already answered an agent's question. */
  hasAnsweredQuestion: boolean
  /** Part of the transaction that keeps the person's answer to an agent's question. */
  answeredQuestion(): Write
  /** Marks the update as answered for good. */
  done(): Write
  /** Ends the lease so that the next attempt can start at once. */
  release(): Promise<void>
}

/**
 * Claims an update for this request. The lease is longer than the function may run. If the request dies, the next
 * delivery by the Bot API takes over.
 * @returns undefined for an update that was already answered
 * @throws `conflict` while another request holds the lease
 */
export const claimUpdate = async (work: Work, botId: string, updateId: number): Promise<UpdateLease | undefined> => {
  const { table, clock, requestId: owner } = work
  const now = clock.now()
  const key = { bot_id: botId, update_id: updateId }
  const locked_until = now + LIMITS.botUpdateLock
  const fresh: BotUpdateRecord = {
    ...key,
    state: 'claimed',
    owner,
    locked_until,
    created_at: now,
    expires_at: now + LIMITS.botUpdateLife,
  }
  try {
    await table.transact([BotUpdateEntity.create(fresh)])
    return claimOf(work, fresh)
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error
    const current = error.current as BotUpdateRecord
    if (current.state === 'done') return undefined
    await table.transact([
      BotUpdateEntity.update(
        key,
        { set: { owner, locked_until } },
        { where: { owner: current.owner, state: 'claimed', locked_until: lte(now) }, otherwise: inWork },
      ),
    ])
    return claimOf(work, { ...current, owner })
  }
}

/**
 * Record of an update that needs no lease, because it is answered in the transaction that creates this record. Update
 * ids are unique per bot.
 */
export const answeredUpdate = (
  { clock, requestId }: Pick<Work, 'clock' | 'requestId'>,
  bot_id: string,
  update_id: number,
): BotUpdateRecord => {
  const now = clock.now()
  return {
    bot_id,
    update_id,
    state: 'done',
    owner: requestId,
    locked_until: now,
    created_at: now,
    expires_at: now + LIMITS.botUpdateLife,
  }
}

const claimOf = ({ table }: Work, record: BotUpdateRecord): UpdateLease => {
  const mine = { where: { owner: record.owner, state: 'claimed' as const }, otherwise: inWork }
  return {
    joinedWorkspaceId: record.joined_workspace_id,
    joined: (joined_workspace_id) => BotUpdateEntity.update(record, { set: { joined_workspace_id } }, mine),
    hasAnsweredQuestion: record.answered_question === true,
    answeredQuestion: () => BotUpdateEntity.update(record, { set: { answered_question: true } }, mine),
    done: () => BotUpdateEntity.update(record, { set: { state: 'done' } }, mine),
    release: () => table.transact([BotUpdateEntity.update(record, { set: { locked_until: 0 } }, mine)]),
  }
}

const inWork = (): PlatformError => redeliver('Another request is processing this update.')

/** Error that makes the Bot API send the update again. */
export const redeliver = (message: string, waitMs: number = SECOND): PlatformError =>
  fail('conflict', {
    message,
    fix: 'Send the update again after Retry-After seconds.',
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / SECOND))) },
  })
