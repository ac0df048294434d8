import type { Deps, Work } from '#shared/foundation/work/index.ts'
import { DAY, MINUTE } from '#shared/kernel/clock.ts'
import { seal, unseal } from '#shared/kernel/encryption.ts'
import { fail } from '#shared/kernel/errors.ts'
import type { MailMessage } from '#shared/kernel/ports/mail.ts'
import { type ItemOf, ifUnchanged, type Key, type Write } from '#shared/table/entity.ts'
import { OutgoingMailEntity } from './entity.ts'

type Sending = Pick<Deps, 'table' | 'clock' | 'keys' | 'mail' | 'log'>

/** Name of the record that an e-mail's content is sealed for. */
const mailRecord = (id: string): string => `mail:${id}`

/** @throws `mail_not_configured` if the deployment can't send e-mail */
export const requireMail = ({ settings }: Pick<Deps, 'settings'>): void => {
  if (settings.mailFrom === undefined) throw fail('mail_not_configured')
}

/**
 * Creates an e-mail, for the transaction of its cause. Call {@link sendMail} after the commit. If that fails, the sweeper
 * sends it.
 */
export const newMail = async (work: Work, message: MailMessage): Promise<{ id: string; write: Write }> => {
  const id = work.id('mail')
  const now = work.clock.now()
  const content = await seal(await work.keys.data(), mailRecord(id), JSON.stringify(message))
  return {
    id,
    write: OutgoingMailEntity.create({ id, content, tries: 0, due_at: now + MINUTE, expires_at: now + DAY }),
  }
}

/** Sends an e-mail that is still to be sent. A failure is logged, and the sweeper tries again. */
export const sendMail = async (work: Sending, id: string): Promise<void> => {
  const mail = await work.table.get(OutgoingMailEntity, { id })
  if (mail) await attempt(work, mail)
}

/** Sends an overdue e-mail, for the sweeper. */
export const handleOverdueMail = async (work: Sending, key: Key): Promise<void> => {
  const mail = await work.table.getByKey(OutgoingMailEntity, key)
  if (mail?.due_at !== undefined && mail.due_at <= work.clock.now()) await attempt(work, mail)
}

const attempt = async (work: Sending, mail: ItemOf<typeof OutgoingMailEntity>): Promise<void> => {
  const { id, tries, content, expires_at } = mail
  const now = work.clock.now()
  try {
    if (expires_at > now)
      await work.mail.send(JSON.parse(await unseal(await work.keys.data(), mailRecord(id), content)))
    await work.table.transact([OutgoingMailEntity.delete({ id })])
  } catch (error) {
    work.log.warn('an e-mail wasn’t sent', { mail_id: id, tries: tries + 1, error })
    // Pauses grow from two minutes to about an hour.
    const due_at = now + MINUTE * 2 ** Math.min(tries + 1, 6)
    await ifUnchanged(
      work.table.transact([
        OutgoingMailEntity.update({ id }, { set: { tries: tries + 1, due_at } }, { where: { tries } }),
      ]),
    )
  }
}
