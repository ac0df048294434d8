import type { Deps } from '#shared/foundation/work/index.ts'
import { type TelegramPerson, telegramIdentity } from '#shared/identity/people/index.ts'
import type { Write } from '#shared/table/entity.ts'
import { BotChatEntity } from './entity.ts'

/**
 * Records that the bot may write to this person, until they block it. Called when they write to the bot or press one of
 * its buttons.
 */
export const botChatWrite = ({ clock }: Pick<Deps, 'clock'>, person: Pick<TelegramPerson, 'id'>): Write =>
  BotChatEntity.replace({ identity: telegramIdentity(person), can_be_written_to: true, heard_at: clock.now() })
