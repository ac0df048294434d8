import { expect, it } from 'vitest'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'
import { sha256 } from '#shared/kernel/secrets.ts'
import { callbackToken, installed } from '#testkit/fixtures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const agent = usingReceiver()
const page = usingReceiver()

/** A call whose dangerous part is far behind what a step shows. */
const asked = async (body: string) => {
  agent.answer({ kind: 'answer', status: 202 })
  page.requests.length = 0
  const app = await installed(platform.deps, { endpoint: agent.url })
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token: app.token, body: {} })
  await platform.drain()
  const args = { url: page.url, method: 'POST', body }
  const { body: answer } = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token: await callbackToken(platform.deps, app, run.id),
    body: { arguments: args },
  })
  const at = `/console/runs/${run.id}/steps/${answer.step_id}`
  const token = app.person.token
  const decide = (more: object = {}) =>
    platform.call('POST', `${at}/decision`, { token, body: { decision: 'approve', ...more } })
  const read = async (offset = 0) => (await platform.call('GET', `${at}/approval?offset=${offset}`, { token })).body
  return { args, decide, read }
}

const long = `${'harmless '.repeat(6_000)}and then "delete everything" \u{1f4a3}`

it('a call can’t be approved by somebody who can’t have read all of it', async () => {
  const { decide } = await asked(long)
  const { status, body } = await decide()
  expect([status, body.error?.code]).toEqual([422, 'validation_error'])
  await platform.drain()
  expect(page.requests).toHaveLength(0)
})

it('the whole of a long call can be read before the decision, and exactly that is executed', async () => {
  const { args, decide, read } = await asked(long)
  let text = ''
  let next: number | null = 0
  let last: { bytes: number; sha256: string } = { bytes: 0, sha256: '' }
  for (let pages = 0; next !== null && pages < 20; pages++) {
    const { arguments: shown } = await read(next)
    text += shown.text
    last = shown
    next = shown.next_offset
  }
  expect(text).toBe(canonicalJson(args))
  expect(last).toMatchObject({ bytes: Buffer.byteLength(text), sha256: sha256(text) })
  expect((await decide({ arguments_sha256: last.sha256 })).status).toBe(200)
  await platform.drain()
  expect(page.requests.map(({ body }) => String(body))).toEqual([long])
})

it('a decision on other arguments than those that were read is refused', async () => {
  const { decide } = await asked('short')
  const { status, body } = await decide({ arguments_sha256: sha256('other') })
  expect([status, body.error?.code]).toEqual([409, 'conflict'])
  await platform.drain()
  expect(page.requests).toHaveLength(0)
})

it('a call whose arguments were lost or exchanged can’t be approved, and can still be rejected', async () => {
  const { decide, read } = await asked(long)
  const [key = ''] = [...platform.objects.keys()].filter((name) => name.endsWith('/arguments')).slice(-1)
  platform.objects.set(key, Buffer.from(JSON.stringify({ url: page.url, method: 'POST', body: 'other' })))
  expect(
    (await decide({ arguments_sha256: sha256(canonicalJson({ url: page.url, method: 'POST', body: 'other' })) }))
      .status,
  ).toBe(409)
  platform.objects.delete(key)
  expect((await decide()).status).toBe(409)
  expect((await read()).error.code).toBe('conflict')
  expect((await decide({ decision: 'reject' })).status).toBe(200)
  await platform.drain()
  expect(page.requests).toHaveLength(0)
})
