import { BotChatEntity } from '../../entities/bot.ts'
import type { Write } from '../../table/entity.ts'
import type { Deps } from '../deps.ts'
import { type TelegramPerson, telegramIdentity } from '../people/telegram/person.ts'

/** Whoever writes to the bot, or presses a button of its, may be written to from then on, until they block it. */
export const heardFrom = ({ clock }: Pick<Deps, 'clock'>, person: Pick<TelegramPerson, 'id'>): Write =>
  BotChatEntity.replace({ identity: telegramIdentity(person), can_be_written_to: true, heard_at: clock.now() })
