import type { InlineKeyboardButton } from 'grammy/types'
import type { Work } from '#shared/foundation/work/index.ts'
import { type Notification, NotificationEntity } from '#shared/identity/notifications/index.ts'
import {
  findPersonByIdentity,
  loadAccess,
  type TelegramPerson,
  telegramIdentity,
} from '#shared/identity/people/index.ts'
import { PlatformError } from '#shared/kernel/errors.ts'
import { PREFIXES } from '#shared/kernel/ids.ts'
import { cleanName } from '#shared/kernel/names.ts'
import { answerInputAsPerson, loadOpenQuestions } from '#shared/work/questions/index.ts'
import { type FormField, formOf, type InputQuestions, type InputResponse, TEXT_FORM } from '#shared/work/runs/index.ts'
import type { BotMessage, Pressed, Said } from './read-update.ts'
import { acknowledge, replaceMessage, replaceQuestion, sendToPerson } from './reply.ts'
import { type Texts, textsFor } from './texts.ts'
import type { UpdateLease } from './update-lease.ts'

/**
 * Agents' questions in the platform's bot (contract/messenger.md#questions). A question with one field is answered there:
 * by buttons if its values are few, otherwise by a reply to the message. Buttons name the notification; the reply
 * finds it in the buttons of the message that it replies to. Both only point to a question. Whether the person may answer
 * is read again, as in the console.
 */

/** Most values that become buttons, and most characters of a button. */
const MAX_BUTTONS = 10
const MAX_LABEL = 40

/** Callback data `a:<workspace>:<notification>:<choice>`, without the prefixes of ids: at most 64 bytes. */
const BUTTON = /^a:([0-9a-z]{26}):([0-9a-z]{26}):(d|\d)$/
const DECLINE = 'd'

interface OneField {
  /** Key of the question. */
  key: string
  message: string
  field: string
  schema: FormField
  /** Values offered as buttons; undefined for a typed answer. */
  choices: { label: string; value: unknown }[] | undefined
}

/** Returns the only open question if it has one field that can be answered in a chat. */
const findOneField = (texts: Texts, questions: InputQuestions): OneField | undefined => {
  const [first, ...others] = Object.entries(questions)
  if (!first || others.length > 0) return undefined
  const key = first[0]
  const question = formOf(first[1])
  if (!question) return undefined
  const fields = Object.entries((question.schema ?? TEXT_FORM).properties)
  const [named] = fields
  if (!named || fields.length > 1) return undefined
  const [field, schema] = named
  const { message } = question
  if (schema.enum) {
    const choices = schema.enum.map((value) => ({ label: cleanName(String(value), MAX_LABEL + 1), value }))
    const labels = new Set(choices.map(({ label }) => label))
    const fits = choices.length <= MAX_BUTTONS && labels.size === choices.length
    if (!fits || choices.some(({ label }) => label === '' || [...label].length > MAX_LABEL)) return undefined
    return { key, message, field, schema, choices }
  }
  const choices =
    schema.type === 'boolean'
      ? [
          { label: texts.yes, value: true },
          { label: texts.no, value: false },
        ]
      : undefined
  return { key, message, field, schema, choices }
}

/**
 * Returns what lets a person answer an agent's questions in the bot: the message's text with a hint, and buttons. Undefined
 * for questions that are answered in the console.
 */
export const presentQuestion = (
  texts: Texts,
  { id, workspace_id }: Pick<Notification, 'id' | 'workspace_id'>,
  questions: InputQuestions,
): { message: string; hint: string; buttons: InlineKeyboardButton[][] } | undefined => {
  const asked = findOneField(texts, questions)
  if (!asked) return undefined
  const dataOf = (choice: string): string =>
    `a:${workspace_id.slice(PREFIXES.workspace.length + 1)}:${id.slice(PREFIXES.notification.length + 1)}:${choice}`
  const { title, description } = asked.schema
  const label = [title === TEXT_FORM.properties.text?.title ? '' : title, description]
    .map((text = '') => cleanName(text, 1_000))
    .filter(Boolean)
    .join(': ')
  return {
    message: asked.message,
    hint: [label, asked.choices ? '' : texts.replyToAnswer].filter(Boolean).join('\n\n'),
    buttons: [
      ...(asked.choices ?? []).map(({ label: text }, i) => [{ text, callback_data: dataOf(String(i)) }]),
      [{ text: texts.declineButton, callback_data: dataOf(DECLINE) }],
    ],
  }
}

/** True for the callback data of a question's button. */
export const isQuestionButton = (data: string): boolean => BUTTON.test(data)

/** Answers a question with the value of a pressed button. */
export const answerQuestionButton = async (work: Work, claim: UpdateLease, pressed: Pressed): Promise<void> => {
  const { data, person, message } = pressed
  const texts = textsFor(person.locale)
  const choice = BUTTON.exec(data)?.[3] as string
  const label = message.buttons.find((button) => button.data === data)?.text
  const outcome = await answer(work, claim, texts, person, data, (asked) => {
    if (choice === DECLINE) return { action: 'decline' }
    const chosen = asked.choices?.[Number(choice)]
    return chosen && { action: 'accept', content: { [asked.field]: chosen.value } }
  })
  if (outcome.kind === 'again') return acknowledge(work, pressed, outcome.text)
  const text =
    outcome.kind === 'over'
      ? outcome.text
      : choice === DECLINE
        ? texts.answerDeclined
        : label === undefined
          ? texts.answerSent
          : texts.answerWith(label)
  return replaceQuestion(work, pressed, [message.text, text].filter(Boolean).join('\n\n'))
}

/** Answers the question in the message that the person replied to. */
export const answerReply = async (
  work: Work,
  claim: UpdateLease,
  { chatId, person, text, repliedTo }: Said & { repliedTo: BotMessage },
): Promise<void> => {
  const texts = textsFor(person.locale)
  const data = repliedTo.buttons.map((button) => button.data).find(isQuestionButton)
  if (data === undefined) return sendToPerson(work, chatId, texts.noReply)
  const outcome = await answer(work, claim, texts, person, data, (asked) => ({
    action: 'accept',
    content: { [asked.field]: asked.choices ? choiceOf(asked.choices, text) : typed(asked.schema, text) },
  }))
  if (outcome.kind !== 'again') {
    const result = outcome.kind === 'over' ? outcome.text : texts.answerSent
    await replaceMessage(work, chatId, repliedTo.id, [repliedTo.text, result].filter(Boolean).join('\n\n'))
  }
  return sendToPerson(work, chatId, outcome.kind === 'sent' ? texts.answerSent : outcome.text)
}

const choiceOf = (choices: NonNullable<OneField['choices']>, text: string): unknown =>
  choices.find(({ label }) => label.toLowerCase() === text.trim().toLowerCase())?.value ?? text

/** Converts a typed answer to the field's type. The form's check refuses what isn't a number. */
const typed = ({ type }: FormField, text: string): unknown => {
  if (type !== 'number' && type !== 'integer') return text
  const number = text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(number) ? number : text
}

/** `again`: the question stays open for another attempt. */
type Outcome = { kind: 'sent' } | { kind: 'over' | 'again'; text: string }

/**
 * Sends an answer with the rules of the console: membership, other people's chats, the question's form. The update records
 * it in the same transaction. If this request dies before replying, the next attempt reports success instead of an
 * answered question.
 */
const answer = async (
  work: Work,
  claim: UpdateLease,
  texts: Texts,
  person: TelegramPerson,
  data: string,
  respond: (asked: OneField) => InputResponse | undefined,
): Promise<Outcome> => {
  if (claim.hasAnsweredQuestion) return { kind: 'sent' }
  const others: Outcome = { kind: 'over', text: texts.questionOfOthers }
  const [, workspace = '', id = ''] = BUTTON.exec(data) ?? []
  const workspace_id = `${PREFIXES.workspace}_${workspace}`
  const [notification, user] = await Promise.all([
    work.table.get(NotificationEntity, { workspace_id, id: `${PREFIXES.notification}_${id}` }),
    findPersonByIdentity(work, telegramIdentity(person)),
  ])
  const { id: run_id, step_id } = notification?.target ?? {}
  const access = user && (await loadAccess(work, { user_id: user.id, workspace_id }, []))
  if (!access || run_id === undefined || step_id === undefined) return others
  if (notification?.user_id !== undefined && notification.user_id !== access.user.id) return others
  if (access.workspace.status === 'suspended') return { kind: 'again', text: texts.workspaceSuspended }
  const questions = await loadOpenQuestions(work, { run_id, step_id })
  if (!questions) return { kind: 'over', text: texts.questionOver }
  if (Object.keys(questions).length === 0) return { kind: 'over', text: texts.alreadyAnswered }
  const asked = findOneField(texts, questions)
  const response = asked && respond(asked)
  if (!response) return { kind: 'over', text: texts.questionOver }
  let isKept = false
  const commit: Work['commit'] = async (writes) => {
    await work.commit([...writes, claim.answeredQuestion()])
    isKept = true
  }
  try {
    await answerInputAsPerson({ ...work, commit }, workspace_id, access.user.id, run_id, { [asked.key]: response })
    return isKept ? { kind: 'sent' } : { kind: 'over', text: texts.alreadyAnswered }
  } catch (error) {
    const outcome = error instanceof PlatformError ? refusal(texts, error) : undefined
    if (!outcome) throw error
    return outcome
  }
}

const refusal = (texts: Texts, { code, details }: PlatformError): Outcome | undefined => {
  switch (code) {
    case 'not_found':
      return { kind: 'over', text: texts.questionOfOthers }
    case 'run_already_finished':
      return { kind: 'over', text: texts.questionOver }
    case 'too_many_active_runs':
      return { kind: 'again', text: texts.agentBusy }
    case 'validation_error': {
      const [problem = ''] = Object.values((details?.fields ?? {}) as Record<string, string[]>).flat()
      return { kind: 'again', text: texts.answerRefused(problem) }
    }
    default:
      return undefined
  }
}
