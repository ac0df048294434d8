import { cpSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { openDatabase } from '#local/aws/database.ts'
import { json, startReceiver, succeeds } from '#testkit/receiver.ts'
import { must, newAgent, type Running, sandboxToken, send, startLocal, temporaryFolder, until } from './support.ts'

const cleanups: (() => unknown)[] = []
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

const start = async (dataDir: string): Promise<Running> => {
  const running = await startLocal({ dataDir })
  cleanups.push(running.stop)
  return running
}

/** Simulates a restore: the table as it was then, without queued messages; secrets and bucket unchanged. */
const restore = (from: string, to: string): void => {
  cpSync(from, to, { recursive: true })
  const database = openDatabase(to)
  database.exec('DELETE FROM queued_messages')
  database.close()
}

it('over a copy of the table alone, tokens work, events can be polled, and work in progress is completed', async () => {
  const [first, second] = [temporaryFolder(), temporaryFolder()]
  cleanups.push(first.remove, second.remove)
  const receiver = await startReceiver()
  cleanups.push(() => receiver.close())
  receiver.answer(({ path }) => (path === '/hook' ? json({}) : succeeds({ output: { done: true } })))
  const hooked = (count: number) =>
    until(() => {
      const found = receiver.requests.filter(({ path }) => path === '/hook')
      return found.length >= count ? found : undefined
    })

  const lost = await start(first.folder)
  const { baseUrl, platform } = lost
  const agent = await newAgent(baseUrl, {
    endpoint: receiver.url,
    scopes: ['workspace:read', 'runs:read', 'runs:write', 'webhooks:manage'],
  })
  const token = await sandboxToken(baseUrl, agent)
  const hook = { url: `${receiver.url}/hook`, events: ['run.succeeded'] }
  await must(baseUrl, 'POST', '/api/v1/webhooks', { token, body: hook })
  const delivered = await must(baseUrl, 'POST', '/api/v1/runs', { token, body: { input: {} } })
  await hooked(1)
  // The next delivery is in progress when the backup is made. Its record is restored, its message is lost.
  platform.pause('delivery')
  const pending = await must(baseUrl, 'POST', '/api/v1/runs', { token, body: { input: {} } })
  await until(() => (platform.queue('delivery').counts().visible > 0 ? true : undefined))
  const port = Number(new URL(baseUrl).port)
  await lost.stop()
  restore(first.folder, second.folder)

  const restored = await startLocal({ dataDir: second.folder, port })
  cleanups.push(restored.stop)
  expect((await send(restored.baseUrl, 'GET', '/api/v1/me', { token })).status).toBe(200)
  const events = await must(restored.baseUrl, 'GET', '/api/v1/events', { token })
  for (const { id } of [delivered, pending]) expect(JSON.stringify(events)).toContain(id)

  // The message no longer exists. The sweeper finds the record when it is overdue.
  restored.platform.shiftClock(10 * 60_000)
  await restored.platform.fire('sweeper')
  await hooked(2)
  await restored.platform.idle(60_000)
  const bodies = (await hooked(2)).map(({ body }) => body.toString())
  expect(bodies.map((body) => [delivered.id, pending.id].findIndex((id) => body.includes(id)))).toEqual([0, 1])
})
