import { beforeEach, describe, expect, it } from 'vitest'
import { MemberEntity, UserEntity } from '#shared/identity/people/entity.ts'
import { DAY, HOUR, MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { localDay, nextDigestAt } from '#shared/messaging/inbox/mail/digest-time.ts'
import { NotificationMailEntity, PersonMailEntity } from '#shared/messaging/inbox/mail/entity.ts'
import { consoleOf, notify, startAwaitingAgent } from '#test/functions/console/notifications-support.ts'
import { giveEmail } from '#testkit/email.ts'
import { member, workspace } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver({ kind: 'answer', status: 202 })

let workspaceId: string
let n = 0
beforeEach(async () => {
  platform.clock.advance(DAY)
  platform.mails.splice(0)
  workspaceId = (await workspace(platform.deps)).id
})

/** Creates a member with a confirmed address. */
const person = async ({ role = 'member', locale = 'en', time_zone = 'UTC' } = {}) => {
  const { user, token } = await member(platform.deps, workspaceId, role as 'member')
  await platform.deps.table.transact([UserEntity.update({ id: user.id }, { set: { locale, time_zone } })])
  const email = `person${++n}@example.com`
  await giveEmail(platform, token, email)
  await consoleOf(platform, token).mark({ all: true })
  await platform.drain()
  await passes(6 * MINUTE)
  platform.mails.splice(0)
  return { id: user.id, token, email, ...consoleOf(platform, token) }
}

/** Lets time pass, and the sweeper and workers do what is due. */
const passes = async (ms: number) => {
  platform.clock.advance(ms)
  await platform.sweep()
  await platform.drain()
}

const mailsTo = (email: string) => platform.mails.filter(({ to }) => to === email)

const toDigest = async (time_zone = 'UTC') => {
  const now = platform.clock.now()
  await passes(nextDigestAt(now, time_zone, undefined) - now + SECOND)
}

describe('a notification that waits for a person', () => {
  it('comes by e-mail after five minutes, once, however often its event and its wake-ups come', async () => {
    const ann = await person()
    const sent = await notify(platform, workspaceId, { kind: 'task.question', title: 'Which colour?' })
    const [event] = platform.outbox.slice(-1)
    await platform.drain()
    for (let i = 0; i < 3; i++) {
      await platform.deliver({
        queue: 'notifications',
        body: { 'detail-type': event?.type, detail: event },
        dueAt: 0,
        group: undefined,
      })
      await platform.drain()
    }
    await passes(4 * MINUTE)
    expect(mailsTo(ann.email)).toEqual([])
    await passes(MINUTE + SECOND)
    const wake = { kind: 'mail', user_id: ann.id, notification_id: sent.id }
    for (let i = 0; i < 3; i++)
      await platform.deliver({ queue: 'notifications', body: wake, dueAt: 0, group: undefined })
    await passes(HOUR)
    expect(mailsTo(ann.email)).toHaveLength(1)
    expect(mailsTo(ann.email)[0]).toMatchObject({
      subject: 'Which colour?',
      text: expect.stringContaining('Three pieces'),
    })
  })

  it('isn’t sent if the person has read it, left, or chose otherwise meanwhile', async () => {
    const [reader, leaver, chooser, blocked] = [await person(), await person(), await person(), await person()]
    const { id } = await notify(platform, workspaceId, { kind: 'task.question' })
    await platform.drain()
    await reader.mark({ ids: [id] })
    await platform.deps.table.transact([MemberEntity.delete({ workspace_id: workspaceId, user_id: leaver.id })])
    const { body: before } = await chooser.call('GET', '/notifications/preferences')
    const { available: _a, address: _b, pending_address: _c, ...email } = before.email
    const { can_be_written_to: _d, ...messaging_app } = before.messaging_app
    await chooser.call('PUT', '/notifications/preferences', { messaging_app, email: { ...email, off: true } })
    await platform.deps.table.transact([UserEntity.update({ id: blocked.id }, { set: { status: 'blocked' } })])
    await passes(10 * MINUTE)
    expect(platform.mails).toEqual([])
  })

  it('writes nothing for people without an address, or with kinds that don’t come by e-mail', async () => {
    const { user } = await member(platform.deps, workspaceId, 'member')
    const { id } = await notify(platform, workspaceId, { kind: 'task.question' })
    await platform.drain()
    expect(
      await platform.deps.table.get(NotificationMailEntity, { notification_id: id, user_id: user.id }),
    ).toBeUndefined()
    expect(await platform.deps.table.get(PersonMailEntity, { user_id: user.id })).toBeUndefined()
  })

  it('is tried again after the provider failed, and given up in the end', async () => {
    const ann = await person()
    const { id } = await notify(platform, workspaceId, { kind: 'task.question' })
    await platform.drain()
    const { send } = platform.deps.mail
    platform.deps.mail.send = async () => {
      throw new Error('the provider is down')
    }
    await passes(6 * MINUTE)
    platform.deps.mail.send = send
    expect(platform.mails).toEqual([])
    await passes(5 * MINUTE)
    expect(mailsTo(ann.email)).toHaveLength(1)
    expect(
      await platform.deps.table.get(NotificationMailEntity, { notification_id: id, user_id: ann.id }),
    ).toMatchObject({
      state: 'sent',
      tries: 2,
    })
  })
})

describe('an e-mail about a call that waits for approval', () => {
  it('goes only to those who may approve it, without what would be sent, and not once it is decided', async () => {
    const [owner, other] = [await person({ role: 'owner' }), await person({ role: 'owner' })]
    const { runId } = await startAwaitingAgent(platform, agent.url, workspaceId)
    await platform.drain()
    await passes(6 * MINUTE)
    const [mail] = mailsTo(owner.email)
    expect(mail?.subject).toMatch(/^“.*” needs your approval$/)
    expect(mail?.text).toContain('It waits for your decision.')
    expect(mail?.text).not.toContain('example.com/page')
    expect(mail?.text).toContain(`https://platform.test/app#/open/${runId}?in=${workspaceId}`)
    platform.mails.splice(0)
    const second = await startAwaitingAgent(platform, agent.url, workspaceId)
    await platform.drain()
    const decision = `/runs/${second.runId}/steps/${second.stepId}/decision`
    await succeeded(other.call('POST', decision, { decision: 'reject' }))
    await passes(6 * MINUTE)
    expect(platform.mails.filter(({ subject }) => subject.includes('needs your approval'))).toEqual([])
  })
})

describe('an e-mail', () => {
  it('is in the person’s language, with brand, text and HTML, and quotes what others wrote without links or markup', async () => {
    const ann = await person({ locale: 'de-AT' })
    await notify(platform, workspaceId, {
      kind: 'agent.question',
      title: 'Click \u202Ehere <b>now</b>\nat once',
      body: 'Go to https://evil.example/?a=1 & sign in <script>alert(1)</script>',
    })
    await platform.drain()
    await passes(6 * MINUTE)
    const [mail] = mailsTo(ann.email)
    expect(mail?.subject).toBe('Click here <b>now</b> at once')
    expect(mail?.html).toContain('<html lang="de">')
    expect(mail?.html).toContain('Click here &#60;b&#62;now&#60;/b&#62; at once')
    expect(mail?.html).not.toContain('<script>')
    for (const part of [mail?.html, mail?.text]) {
      expect(part).not.toContain('https://evil.example')
      expect(part).toContain('Agent Integration Platform')
      expect(part).toContain('In der Konsole öffnen')
      expect(part).toContain('Abbestellen')
    }
  })

  it('of the platform’s own words is translated', async () => {
    const ann = await person({ locale: 'de' })
    await giveEmail(platform, ann.token, `new-${ann.email}`)
    await platform.drain()
    await passes(6 * MINUTE)
    expect(mailsTo(`new-${ann.email}`).map(({ subject }) => subject)).toEqual([
      expect.stringMatching(/^\d{6} ist dein Code für /),
      'Deine Benachrichtigungen kommen jetzt auch per E-Mail',
    ])
    const [shown] = (await ann.read('/notifications')).items
    expect(shown.title).toBe('Deine Benachrichtigungen kommen jetzt auch per E-Mail')
    expect(shown.body).toContain(`new-${ann.email}`)
  })
})

describe('a digest', () => {
  it('comes at 8 in the morning of the person’s time zone with what they haven’t read, once a day', async () => {
    const zone = 'America/New_York'
    const ann = await person({ time_zone: zone })
    const read = await notify(platform, workspaceId, { title: 'Seen already' })
    await notify(platform, workspaceId, { title: 'First news' })
    await platform.drain()
    await notify(platform, workspaceId, { title: 'Second news' })
    await platform.drain()
    await ann.mark({ ids: [read.id] })
    await passes(6 * MINUTE)
    expect(platform.mails).toEqual([])
    await toDigest(zone)
    const local = new Intl.DateTimeFormat('en', { timeZone: zone, hour: 'numeric', hourCycle: 'h23' })
    expect(local.format(platform.clock.now())).toBe('08')
    const [mail, ...rest] = mailsTo(ann.email)
    expect(rest).toEqual([])
    expect(mail?.subject).toBe('2 notifications on Agent Integration Platform')
    for (const title of ['First news', 'Second news']) expect(mail?.text).toContain(title)
    expect(mail?.text).not.toContain('Seen already')
    // The rest of the day stays quiet, also after the person moved to another zone.
    await notify(platform, workspaceId, { title: 'Third news' })
    await platform.drain()
    await ann.call('PATCH', '/me', { time_zone: 'America/Los_Angeles' })
    await passes(4 * HOUR)
    expect(mailsTo(ann.email)).toHaveLength(1)
    await passes(DAY)
    expect(mailsTo(ann.email)).toHaveLength(2)
    expect(mailsTo(ann.email)[1]?.text).toContain('Third news')
    expect(mailsTo(ann.email)[1]?.text).not.toContain('Second news')
  })

  it('has a notification that was written while the clock went on', async () => {
    const ann = await person()
    const { clock } = platform
    const now = clock.now.bind(clock)
    clock.now = () => {
      clock.advance(1)
      return now()
    }
    try {
      await notify(platform, workspaceId, { title: 'Late news' })
    } finally {
      clock.now = now
    }
    await platform.drain()
    await toDigest()
    expect(mailsTo(ann.email)[0]?.text).toContain('Late news')
  })

  it('isn’t sent without news, and costs no write for a notification when it is planned already', async () => {
    const ann = await person()
    const { id } = await notify(platform, workspaceId)
    await platform.drain()
    const planned = await platform.deps.table.get(PersonMailEntity, { user_id: ann.id })
    const { id: second } = await notify(platform, workspaceId)
    await platform.drain()
    expect(await platform.deps.table.get(PersonMailEntity, { user_id: ann.id })).toEqual(planned)
    await ann.mark({ ids: [id, second] })
    await toDigest()
    expect(platform.mails).toEqual([])
    expect((await platform.deps.table.get(PersonMailEntity, { user_id: ann.id }))?.due_at).toBeUndefined()
  })

  it('takes a notification that comes while it is being sent into the next one', async () => {
    const ann = await person()
    await notify(platform, workspaceId, { title: 'Before' })
    await platform.drain()
    const { send } = platform.deps.mail
    platform.deps.mail.send = async (message) => {
      platform.deps.mail.send = send
      await notify(platform, workspaceId, { title: 'Meanwhile' })
      await platform.drain()
      await send(message)
    }
    await toDigest()
    await passes(DAY)
    const [first, second] = mailsTo(ann.email)
    expect(first?.text).toContain('Before')
    expect(second?.text).toContain('Meanwhile')
  })

  it('is planned for 8 o’clock on both sides of a change of the clocks', () => {
    for (const day of ['2026-03-28', '2026-03-29', '2026-10-24', '2026-10-25']) {
      const at = nextDigestAt(Date.parse(`${day}T12:00:00Z`), 'Europe/Berlin', undefined)
      expect(new Date(at).toLocaleTimeString('de', { timeZone: 'Europe/Berlin' })).toBe('08:00:00')
      expect(localDay(at, 'Europe/Berlin') > day).toBe(true)
    }
  })
})

describe('an unsubscribe link', () => {
  const linkOf = async (email: string) => {
    const { unsubscribe = '', text, html } = mailsTo(email)[0] ?? {}
    expect(text).toContain(unsubscribe)
    expect(html).toContain(unsubscribe.replaceAll('&', '&#38;'))
    return unsubscribe.replace('https://platform.test', '')
  }

  it('ends e-mail of its workspace by one POST without a sign-in, in either form of RFC 8058, and a GET ends nothing', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const ann = await person()
      await notify(platform, workspaceId, { kind: 'task.question' })
      await platform.drain()
      await passes(6 * MINUTE)
      const link = await linkOf(ann.email)
      const page = await platform.call('GET', link)
      expect(page.text).toContain('<form method="post"><button>Unsubscribe</button></form>')
      expect((await ann.read('/notifications/preferences')).email.off).toBe(false)
      const body = 'List-Unsubscribe=One-Click'
      const answer = await platform.call('POST', link, { headers: { 'content-type': type }, body })
      expect(answer.status, answer.text).toBe(200)
      expect(answer.text).toContain('You’re unsubscribed')
      expect((await ann.read('/notifications/preferences')).email.off).toBe(true)
      await notify(platform, workspaceId, { kind: 'task.question' })
      await platform.drain()
      await passes(6 * MINUTE)
      expect(mailsTo(ann.email)).toHaveLength(1)
    }
  })

  it('of a digest ends digests only', async () => {
    const ann = await person()
    await notify(platform, workspaceId)
    await platform.drain()
    await toDigest()
    await platform.call('POST', await linkOf(ann.email), { body: '' })
    expect((await platform.deps.table.get(PersonMailEntity, { user_id: ann.id }))?.digest_off).toBe(true)
    await notify(platform, workspaceId)
    await platform.drain()
    await passes(2 * DAY)
    expect(mailsTo(ann.email)).toHaveLength(1)
  })

  it('that was changed, or belongs to an address that was removed, does nothing', async () => {
    const ann = await person()
    await notify(platform, workspaceId, { kind: 'task.question' })
    await platform.drain()
    await passes(6 * MINUTE)
    const link = await linkOf(ann.email)
    const other = (await workspace(platform.deps)).id
    for (const wrong of [
      link.slice(0, -2),
      link.replace(workspaceId, other),
      link.replace(workspaceId, 'digest'),
      '/console/email/unsubscribe',
    ])
      expect((await platform.call('POST', wrong, { body: '' })).text).toContain('This link doesn’t work anymore')
    await ann.call('DELETE', '/email')
    expect((await platform.call('POST', link, { body: '' })).text).toContain('This link doesn’t work anymore')
    expect((await ann.read('/notifications/preferences')).email).toMatchObject({ off: false, digest_off: false })
  })
})
