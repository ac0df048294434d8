import * as z from 'zod'
import type { WorkerWork } from '#shared/foundation/work/index.ts'
import { auditPerson } from '#shared/staff/audit/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { missing } from '#shared/table/expressions.ts'
import { retryOnConflict } from '#shared/table/retry.ts'
import { type Account, AccountEntity } from '#shared/work/threads/index.ts'
import { callBotApi } from './bot-api.ts'
import { disconnectWrites } from './disconnect.ts'
import { BusinessConnectionEntity, TelegramPersonEntity, type TelegramPersonRecord } from './entity.ts'
import { ingestUpdate } from './ingest.ts'
import { loadCurrentAccount } from './leave.ts'
import { readDeleted, readMessage } from './read-update.ts'

/** Telegram's `BusinessConnection`. Before Bot API 9.0, `can_reply` was a top-level field. */
const Connection = () =>
  z.object({
    id: z.string().min(1).max(256),
    user: z.object({ id: z.int().positive() }),
    date: z.int().nonnegative(),
    is_enabled: z.boolean(),
    rights: z.object({ can_reply: z.boolean().optional() }).optional(),
    can_reply: z.boolean().optional(),
  })

type Connection = z.infer<ReturnType<typeof Connection>>

const OfConnection = () => z.object({ business_connection_id: z.string().min(1).max(256) })

/** Processes an update about a person's Business connection. Updates may arrive twice, late and in any order. */
export const ingestBusinessUpdate = async (work: WorkerWork, update: Record<string, unknown>): Promise<void> => {
  const reported = Connection().safeParse(update.business_connection).data
  if (reported) return void (await syncConnection(work, reported.id, reported))
  const given = update.business_message ?? update.edited_business_message ?? update.deleted_business_messages
  const of = OfConnection().safeParse(given).data
  const parsed = update.deleted_business_messages
    ? readDeleted(given)
    : readMessage(given, update.business_message === undefined)
  // Messages that the platform sent itself are already stored.
  if (!of || !parsed || (parsed.kind === 'message' && parsed.byBot)) return
  const account = await loadAccountOf(work, of.business_connection_id)
  if (account?.status === 'active' && account.connection_id === of.business_connection_id) {
    await ingestUpdate(work, account, parsed)
  }
}

const loadAccountOf = async (work: WorkerWork, connection_id: string): Promise<Account | undefined> => {
  const known = await work.table.get(BusinessConnectionEntity, { connection_id })
  // A connection's first message may arrive before the connection itself.
  const telegram_id = known?.telegram_id ?? (await syncConnection(work, connection_id, undefined))
  const person = telegram_id === undefined ? undefined : await work.table.get(TelegramPersonEntity, { telegram_id })
  if (person?.workspace_id === undefined || person.account_id === undefined) return undefined
  return loadCurrentAccount(work, person.workspace_id, person.account_id)
}

/**
 * Updates a connection's records to its current state at Telegram, so that the order of updates doesn't matter.
 * @param reported connection in the update, used when Telegram no longer knows the connection
 * @returns Telegram id of the connection's owner
 */
const syncConnection = async (
  work: WorkerWork,
  connection_id: string,
  reported: Connection | undefined,
): Promise<number | undefined> => {
  const own = await work.bot.credentials()
  if (!own) return undefined
  return retryOnConflict(async () => {
    const asOf = reported && (await work.table.get(TelegramPersonEntity, { telegram_id: reported.user.id }))
    const called = await callBotApi(
      work,
      own.token,
      'getBusinessConnection',
      { business_connection_id: connection_id },
      Connection(),
    )
    if (called.kind !== 'ok' && (called.kind !== 'refused' || called.status !== 400)) {
      throw new Error(`Telegram didn’t return the state of a Business connection: ${called.description}`)
    }
    const now = called.kind === 'ok' ? called.result : reported && { ...reported, is_enabled: false }
    if (!now) return undefined
    const telegram_id = now.user.id
    const before = asOf ?? (await work.table.get(TelegramPersonEntity, { telegram_id }))
    await work.commit(await connectionWrites(work, now, before))
    return telegram_id
  })
}

const connectionWrites = async (
  work: WorkerWork,
  connection: Connection,
  before: TelegramPersonRecord | undefined,
): Promise<Write[]> => {
  const { id: connection_id, date, is_enabled } = connection
  const telegram_id = connection.user.id
  const record = BusinessConnectionEntity.replace({ connection_id, telegram_id })
  const current = before?.connection_id === connection_id
  // When two connections are enabled, the later one wins.
  const takes = is_enabled && (current || before?.connection_id === undefined || (before.connected_at ?? 0) <= date)
  if (!takes && !(current && !is_enabled)) return [record]
  const can_reply = is_enabled && (connection.rights?.can_reply ?? connection.can_reply ?? false)
  const set = {
    telegram_id,
    connection_id: is_enabled ? connection_id : undefined,
    connected_at: is_enabled ? date : undefined,
    can_reply,
    revision: (before?.revision ?? 0) + 1,
  }
  return [
    record,
    TelegramPersonEntity.upsert({ telegram_id }, { set }, { where: { revision: before?.revision ?? missing } }),
    ...(await accountWrites(work, before, { connection_id, can_reply, is_enabled })),
  ]
}

const accountWrites = async (
  work: WorkerWork,
  before: TelegramPersonRecord | undefined,
  { connection_id, can_reply, is_enabled }: { connection_id: string; can_reply: boolean; is_enabled: boolean },
): Promise<Write[]> => {
  if (before?.workspace_id === undefined || before.account_id === undefined) return []
  const { workspace_id } = before
  const account = await loadCurrentAccount(work, workspace_id, before.account_id)
  if (!account || account.status === 'removing') return []
  if (!is_enabled) return account.status === 'active' ? disconnectWrites(work, account, 'connection_ended') : []
  const set = { status: 'active' as const, reason: undefined, connection_id, can_reply, updated_at: work.clock.now() }
  return [
    AccountEntity.update(account, { set }, { where: { status: account.status, updated_at: account.updated_at } }),
    ...(account.status === 'active'
      ? []
      : [
          auditPerson(
            work,
            { workspaceId: workspace_id, userId: account.user_id ?? '' },
            'messenger.account_connected',
            { type: 'messenger_account', id: account.id },
            { kind: 'user' },
          ),
        ]),
  ]
}
