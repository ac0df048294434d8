import { BotUpdateEntity, type BotUpdateRecord } from '../../entities/bot.ts'
import { SECOND } from '../../kernel/clock.ts'
import { fail, type PlatformError } from '../../kernel/errors.ts'
import { LIMITS } from '../../kernel/limits.ts'
import { ConditionFailed, type Write } from '../../table/entity.ts'
import { lte } from '../../table/expressions.ts'
import type { Work } from '../deps.ts'

/** The right to answer one update. */
export interface Claim {
  /** Set when an earlier try got as far as joining. */
  joinedWorkspaceId: string | undefined
  /** For the transaction in which the person joins. */
  joined(workspaceId: string): Write
  /** The update is answered, for good. */
  done(): Write
  /** Lets the next try begin at once. */
  release(): Promise<void>
}

/**
 * Takes an update for this request. It belongs to it for longer than the function may run; a request that died is followed
 * by the next one that the Bot API sends.
 * @returns undefined for an update that was answered before
 * @throws `conflict` while another request works on it
 */
export const claimUpdate = async (work: Work, botId: string, updateId: number): Promise<Claim | undefined> => {
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

/** An update that needs no claim, because it is answered in the transaction that creates this. Ids count per bot. */
export const takenUpdate = (
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

const claimOf = ({ table }: Work, record: BotUpdateRecord): Claim => {
  const mine = { where: { owner: record.owner, state: 'claimed' as const }, otherwise: inWork }
  return {
    joinedWorkspaceId: record.joined_workspace_id,
    joined: (joined_workspace_id) => BotUpdateEntity.update(record, { set: { joined_workspace_id } }, mine),
    done: () => BotUpdateEntity.update(record, { set: { state: 'done' } }, mine),
    release: () => table.transact([BotUpdateEntity.update(record, { set: { locked_until: 0 } }, mine)]),
  }
}

const inWork = (): PlatformError => later('Another request works on this update.')

/** An answer after which the Bot API sends the update again. */
export const later = (message: string, waitMs: number = SECOND): PlatformError =>
  fail('conflict', {
    message,
    fix: 'Send it again after Retry-After seconds.',
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / SECOND))) },
  })
