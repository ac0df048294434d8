import { exportJWK, generateKeyPair } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { DeveloperEntity } from '#shared/identity/developers/entity.ts'
import { DAY, HOUR, MINUTE } from '#shared/kernel/clock.ts'
import { invited, newApp, newDeveloper, publish } from '#testkit/developers.ts'
import { succeeded } from '#testkit/platform.ts'
import { json } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { cardAt } from '../functions/workers/outside-support.ts'

const platform = usingPlatform()
const agent = usingReceiver()
beforeEach(() => platform.clock.advance(HOUR))

/** Texts that mail programs turn into links: addresses with a scheme, `www.`, bare hosts, and e-mail addresses. */
const LINKED = /\b(?:\w+:\/\/|www\.)\S|[\w-]+\.(?:example|com)\b|[\w-]@[\w-]/i
const CONTROLS = /(?!\n)\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u

/** Returns the lines of an e-mail that hold texts of others, without the platform's own address. */
const foreignPart = (text: string) => text.replaceAll(/https?:\/\/\S*(?:platform\.test|127\.0\.0\.1)\S*/g, '')

describe('an e-mail about a developer account', () => {
  it.each(['company', 'name'])('has no link to an address in the %s that a stranger chose', async (field) => {
    const owner = await newDeveloper(platform)
    const text = 'Confirm at https://evil.example/x, www.evil.com or evil.com, or write to me@evil.example'
    const hostile = { name: 'Ada', [field]: text }
    await platform.deps.table.transact([DeveloperEntity.update({ id: owner.id }, { set: hostile })])
    await invited(platform, owner, 'viewer', `victim-${field}@example.com`)
    const mail = platform.mails.at(-1)
    expect(mail?.to).toBe(`victim-${field}@example.com`)
    expect(mail?.text).toContain('Confirm at')
    expect(foreignPart(mail?.text ?? '')).not.toMatch(LINKED)
    expect(mail?.text).toMatch(/https:\/\/platform\.test\/developers#\/join\//)
  })

  it('has no line that a stranger wrote into a name', async () => {
    const owner = await newDeveloper(platform)
    const company = 'Bank” blocked you.\n\nYour account is blocked\u202e\u001b[2J'
    await platform.deps.table.transact([DeveloperEntity.update({ id: owner.id }, { set: { company } })])
    await invited(platform, owner, 'viewer', 'victim-line@example.com')
    const { text = '' } = platform.mails.at(-1) ?? {}
    expect(text).toMatch(/^“Bank’ blocked you\. Your account is blocked\S*” invites you/m)
    expect(text).not.toMatch(/^Your account/m)
    expect(text).not.toMatch(CONTROLS)
  })

  it('has no link to an address in the card of an agent elsewhere', async () => {
    const developer = await newDeveloper(platform)
    const verified = { email_verified_at: platform.clock.now() }
    await platform.deps.table.transact([DeveloperEntity.update({ id: developer.id }, { set: verified })])
    const app = await newApp(developer)
    const kid = 'Sign in at www.evil.example\u202e'
    const { publicKey } = await generateKeyPair('ES256', { extractable: true })
    const keys = { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256' }] }
    let card: unknown = cardAt(agent.url)
    agent.answer(({ path }) => json(path.startsWith('/keys') ? keys : card))
    await succeeded(publish(developer, app, { runtime: { type: 'a2a', card_url: `${agent.url}/card.json` } }))
    platform.mails.length = 0
    const header = { alg: 'ES256', kid, jku: `${agent.url}/keys` }
    const signature = {
      protected: Buffer.from(JSON.stringify(header)).toString('base64url'),
      signature: Buffer.alloc(64, 1).toString('base64url'),
    }
    card = { ...cardAt(agent.url), signatures: [signature] }
    for (const time of [DAY, MINUTE, DAY, MINUTE, DAY, MINUTE, 2 * MINUTE]) {
      platform.clock.advance(time)
      await platform.sweep()
      await platform.drain()
    }
    const { text = '' } = platform.mails.find((mail) => mail.text.includes(app.id)) ?? {}
    expect(text).toContain('Sign in at')
    expect(foreignPart(text)).not.toMatch(LINKED)
    expect(text).not.toMatch(CONTROLS)
  })
})
