import type { InlineKeyboardButton } from 'grammy/types'
import type { Work } from '#shared/foundation/work/index.ts'
import {
  findPersonByIdentity,
  listWorkspacesOf,
  type TelegramPerson,
  telegramIdentity,
} from '#shared/identity/people/index.ts'
import { type Translate, translator } from '#shared/kernel/messages.ts'
import { cleanText, quoteName } from '#shared/kernel/names.ts'
import { truncate } from '#shared/kernel/truncate.ts'
import { miniApp, startParameter } from '../inbox/index.ts'
import { listWaiting } from './list.ts'
import type { WaitingItem } from './schemas.ts'

/** Workspaces and items in one message. Telegram shows up to 100 buttons and 4,096 characters; people read fewer. */
const WORKSPACES = 5
const ITEMS = 10
const LINE = 120

const kindsIn = (t: Translate): Record<WaitingItem['kind'], string> => ({
  approval: t('Approval'),
  question: t('Question'),
  task: t('Task'),
  draft: t('Draft'),
})

/**
 * Describes what waits for a person, in all of their workspaces, with a button for each item. Calls are approved where the whole
 * call can be read, so a button opens it.
 */
export const describeWaiting = async (
  work: Work,
  person: TelegramPerson,
): Promise<{ text: string; buttons: InlineKeyboardButton[][] }> => {
  const t = translator(person.locale)
  const kinds = kindsIn(t)
  const user = await findPersonByIdentity(work, telegramIdentity(person))
  const belongings = user?.status === 'active' ? (await listWorkspacesOf(work, user.id)).slice(0, WORKSPACES) : []
  const found = await Promise.all(
    belongings.map(async ({ workspace }) => ({
      workspace,
      items: (await listWaiting(work, { workspace, user: user as NonNullable<typeof user> })).filter(
        ({ snoozed_until }) => snoozed_until === null,
      ),
    })),
  )
  const waiting = found.filter(({ items }) => items.length > 0)
  if (waiting.length === 0) return { text: t('You’re all caught up. Nothing waits for you.'), buttons: [] }
  let number = 0
  const buttons: InlineKeyboardButton[][] = []
  const lines = waiting.flatMap(({ workspace, items }) => [
    t('{workspace}: {items} waiting', { workspace: quoteName(workspace.name), items: items.length }),
    ...items.slice(0, Math.max(0, ITEMS - number)).map((item) => {
      const line = `${++number}. ${kinds[item.kind]}: ${truncate(cleanText(item.title).replaceAll('\n', ' '), LINE)}`
      const parameter = startParameter({ target: targetOf(item) })
      if (parameter)
        buttons.push([{ text: `${number}. ${t('Open')}`, web_app: { url: miniApp(work.settings.baseUrl, parameter) } }])
      return item.agent ? `${line} (${quoteName(item.agent.name)})` : line
    }),
  ])
  return { text: lines.join('\n'), buttons }
}

const targetOf = ({ kind, id, run_id, chat_id }: WaitingItem) =>
  kind === 'task'
    ? { type: 'task' as const, id }
    : kind === 'draft'
      ? { type: 'messenger_chat' as const, id: chat_id ?? '' }
      : { type: 'run' as const, id: run_id ?? '', step_id: id }
