import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMail } from '#shared/adapters/ses.ts'
import { startServices } from '#testkit/services.ts'
import { using } from '#testkit/using.ts'

const services = using(
  () => startServices({ dataDir: mkdtempSync(join(tmpdir(), 'mailbox-')) }),
  (running) => running.stop(),
)

describe('e-mail', () => {
  it('is sent through SES’s API, and ends up in the mailbox page of the local run', async () => {
    const { address } = services
    const mail = createMail('platform@example.com', { AWS_ENDPOINT_URL_SESV2: address, AWS_ACCESS_KEY_ID: 'local' })
    await mail.send({ to: 'ada@example.com', subject: 'Hello <b>', text: 'The code:\n\n  dvt_1' })
    for (const shown of ['ada@example.com', 'Hello &#60;b&#62;', 'dvt_1'])
      expect(services.mailbox.page()).toContain(shown)
  })

  it('fails for a provider that refuses it, and without a sender', async () => {
    const env = { AWS_ENDPOINT_URL_SESV2: services.address }
    await expect(createMail('a@example.com', env).send({ to: '', subject: 's', text: 't' })).rejects.toThrow(/400/)
    await expect(createMail(undefined, env).send({ to: 'a', subject: 's', text: 't' })).rejects.toThrow(/mailFrom/)
  })
})
