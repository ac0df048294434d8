import type { BotUser, Chat, Chats, Message } from './chats.ts'
import type { Connections } from './connections.ts'
import { badRequest, TelegramError } from './error.ts'
import { isReachable, readKeyboard, readWebApp } from './keyboard.ts'
import type { Updates } from './updates.ts'

/** Arguments of a call: texts from the address or a form, JSON values from a JSON body. */
export type Args = Record<string, unknown>

/** A call's result, with Telegram's description. */
export interface Result {
  result: unknown
  description?: string
}

/** Text that a person sees after pressing a button. */
export interface PressAnswer {
  text?: string
  show_alert: boolean
}

/** Button presses that the bot has not answered yet, by the id of their callback query. */
export type Presses = Map<string, (answer: PressAnswer) => void>

/** The parts of a bot that the methods act on. */
export interface Bot {
  user: BotUser
  chats: Chats
  updates: Updates
  presses: Presses
  connections: Connections
  /** Origin of the platform's public address. */
  origin?: string | undefined
}

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value))
const truth = (value: unknown): boolean => ['true', 'True', 'yes', '1'].includes(text(value))

/** Reads an argument that is an object or a list: a value in a JSON body, JSON text elsewhere. */
const structure = (value: unknown, otherwise: string): unknown => {
  if (typeof value !== 'string') return value ?? undefined
  if (value === '') return undefined
  try {
    return JSON.parse(value)
  } catch {
    throw badRequest(otherwise)
  }
}

const MESSAGE_LENGTH = 4096

const messageText = (args: Args): string => {
  const given = text(args.text)
  if (given.trim() === '') throw badRequest('message text is empty')
  if ([...given].length > MESSAGE_LENGTH) throw badRequest('message is too long')
  // The stand-in shows text unchanged, so unparsed markup would only seem to work.
  if (text(args.parse_mode) !== '') throw badRequest('unsupported parse_mode')
  return given
}

const keyboard = ({ origin }: Bot, args: Args) =>
  readKeyboard(structure(args.reply_markup, "can't parse reply keyboard markup JSON object"), origin)

const chatOf = ({ chats }: Bot, args: Args): Chat => {
  const id = text(args.chat_id)
  if (id === '') throw badRequest('chat_id is empty')
  const chat = chats.find(Number(id))
  if (!chat) throw badRequest('chat not found')
  if (chat.blocked) throw new TelegramError(403, 'Forbidden: bot was blocked by the user')
  return chat
}

const setWebhook = ({ updates, origin }: Bot, args: Args): Result => {
  const url = text(args.url)
  const secretToken = text(args.secret_token)
  if (secretToken.length > 256) throw badRequest('secret token is too long')
  if (!/^[\w-]*$/.test(secretToken)) throw badRequest('secret token contains unallowed characters')
  if (truth(args.drop_pending_updates)) updates.drop()
  const before = updates.webhook
  if (url === '') {
    updates.connect(undefined)
    return { result: true, description: before ? 'Webhook was deleted' : 'Webhook is already deleted' }
  }
  if (!isReachable(url, ['https:'], origin)) throw badRequest('bad webhook: An HTTPS URL must be provided for webhook')
  const kinds = structure(args.allowed_updates, "can't parse allowed_updates JSON object")
  const allowedUpdates = Array.isArray(kinds) ? kinds.map(String) : (before?.allowedUpdates ?? [])
  const same = before?.url === url && before.secretToken === secretToken
  if (same) before.allowedUpdates = allowedUpdates
  else updates.connect({ url, secretToken, allowedUpdates })
  return { result: true, description: same ? 'Webhook is already set' : 'Webhook was set' }
}

const getWebhookInfo = ({ updates }: Bot): Result => {
  const { webhook, lastError, pending } = updates
  const error = lastError && {
    last_error_date: Math.floor(lastError.at / 1_000),
    last_error_message: lastError.message,
  }
  const info = { url: webhook?.url ?? '', has_custom_certificate: false, pending_update_count: pending, ...error }
  if (!webhook) return { result: info }
  const kinds = webhook.allowedUpdates.length > 0 && { allowed_updates: webhook.allowedUpdates }
  return { result: { ...info, max_connections: 40, ip_address: '127.0.0.1', ...kinds } }
}

const sendMessage = (bot: Bot, args: Args): Result => {
  const message = messageText(args)
  const markup = keyboard(bot, args)
  const connection = text(args.business_connection_id)
  if (connection !== '') return { result: bot.connections.send(connection, Number(text(args.chat_id)), message) }
  return { result: bot.chats.add(chatOf(bot, args), bot.user, message, markup) }
}

const sameAs = (message: Message, other: Pick<Message, 'text' | 'reply_markup'>): boolean =>
  message.text === other.text && JSON.stringify(message.reply_markup) === JSON.stringify(other.reply_markup)

const editMessageText = (bot: Bot, args: Args): Result => {
  const given = messageText(args)
  const markup = keyboard(bot, args)
  const chat = chatOf(bot, args)
  const message = chat.messages.find((each) => each.message_id === Number(text(args.message_id)))
  if (!message) throw badRequest('message to edit not found')
  if (message.from.id !== bot.user.id) throw badRequest("message can't be edited")
  if (sameAs(message, { text: given, ...(markup && { reply_markup: markup }) })) {
    throw badRequest(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    )
  }
  return { result: bot.chats.edit(chat, message, given, markup) }
}

const answerCallbackQuery = ({ presses }: Bot, args: Args): Result => {
  const answer = presses.get(text(args.callback_query_id))
  if (!answer) throw badRequest('query is too old and response timeout expired or query ID is invalid')
  const shown = text(args.text)
  if ([...shown].length > 200) throw badRequest('MESSAGE_TOO_LONG')
  answer({ ...(shown && { text: shown }), show_alert: truth(args.show_alert) })
  return { result: true }
}

interface Command {
  command: string
  description: string
}

const readCommands = (value: unknown): Command[] => {
  if (!Array.isArray(value)) throw badRequest('expected an Array of BotCommand')
  if (value.length > 100) throw badRequest('BOT_COMMANDS_TOO_MUCH')
  return value.map((each: Partial<Command> | null) => {
    const { command, description } = each ?? {}
    if (typeof command !== 'string') throw badRequest('can\'t parse BotCommand: Can\'t find field "command"')
    if (typeof description !== 'string') throw badRequest('can\'t parse BotCommand: Can\'t find field "description"')
    const name = command.replace(/^\//, '')
    if (!/^[a-z0-9_]{1,32}$/.test(name)) throw badRequest('BOT_COMMAND_INVALID')
    if (description.length < 1 || description.length > 256) throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID')
    return { command: name, description }
  })
}

const readMenuButton = ({ origin }: Bot, value: unknown): unknown => {
  if (value === undefined) return { type: 'default' }
  const { type, text: label, web_app: app } = value as { type?: unknown; text?: unknown; web_app?: Args }
  if (type === 'default' || type === 'commands') return { type }
  if (type !== 'web_app' || typeof label !== 'string' || !app) throw badRequest('MenuButton has unsupported type')
  return { type, text: label, web_app: { url: readWebApp(app, 'menu button Web App', origin) } }
}

/**
 * Creates the Bot API's methods that the stand-in supports, by their names in lower case. Telegram accepts any case.
 *
 * @see https://core.telegram.org/bots/api; the errors' texts are those of github.com/tdlib/telegram-bot-api
 */
export const createMethods = (bot: Bot): Map<string, (args: Args) => Result> => {
  const commands = new Map<string, Command[]>()
  const menuButtons = new Map<string, unknown>()
  const listOf = ({ scope, language_code }: Args) =>
    JSON.stringify([structure(scope, "can't parse BotCommandScope") ?? { type: 'default' }, text(language_code)])

  const methods: Record<string, (args: Args) => Result> = {
    getMe: () => ({
      result: {
        ...bot.user,
        can_join_groups: true,
        can_read_all_group_messages: false,
        supports_inline_queries: false,
        can_connect_to_business: true,
        has_main_web_app: false,
      },
    }),
    setWebhook: (args) => setWebhook(bot, args),
    deleteWebhook: ({ drop_pending_updates }) => setWebhook(bot, { drop_pending_updates }),
    getWebhookInfo: () => getWebhookInfo(bot),
    sendMessage: (args) => sendMessage(bot, args),
    getBusinessConnection: ({ business_connection_id }) => ({
      result: bot.connections.get(text(business_connection_id)),
    }),
    editMessageText: (args) => editMessageText(bot, args),
    answerCallbackQuery: (args) => answerCallbackQuery(bot, args),
    setMyCommands: (args) => {
      commands.set(listOf(args), readCommands(structure(args.commands, "can't parse commands JSON object")))
      return { result: true }
    },
    getMyCommands: (args) => ({ result: commands.get(listOf(args)) ?? [] }),
    setChatMenuButton: (args) => {
      const button = readMenuButton(bot, structure(args.menu_button, "can't parse menu button JSON object"))
      menuButtons.set(args.chat_id === undefined ? '' : String(chatOf(bot, args).person.id), button)
      return { result: true }
    },
    getChatMenuButton: ({ chat_id }) => ({
      result: menuButtons.get(text(chat_id)) ?? menuButtons.get('') ?? { type: 'commands' },
    }),
  }
  return new Map(Object.entries(methods).map(([name, method]) => [name.toLowerCase(), method]))
}
