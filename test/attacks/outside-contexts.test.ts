import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { installOutside, serve, task } from '#test/functions/workers/outside-support.ts'
import { A2A } from '#testkit/a2a.ts'
import { installed } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'

const platform = usingPlatform()
const outside = usingReceiver()

it('an outside agent takes no caller’s context for another one’s, or for somebody’s chat, whatever ids they choose', async () => {
  const calls = serve(outside, () => ({ result: { task: task('COMPLETED', 'Four.') } }))
  const agent = await installOutside(platform, outside.url, { tools: ['look'] })
  const { workspaceId, person } = agent
  const [one, other] = [
    await installed(platform.deps, { workspaceId }),
    await installed(platform.deps, { workspaceId }),
  ]
  const elsewhere = await installOutside(platform, outside.url, { tools: ['look'] })
  const stranger = await installed(platform.deps, { workspaceId: elsewhere.workspaceId })
  const body = { installation_id: agent.installation.id }
  const chat = await succeeded(platform.call('POST', '/console/conversations', { token: person.token, body }))
  const sent = async () => {
    await platform.drain()
    return calls.filter(({ method }) => method === 'SendMessage').at(-1)?.params.message.contextId as string
  }
  const ask = async ({ token }: { token: string }, { installation }: typeof agent, contextId: string) => {
    platform.clock.advance(3_000)
    const message = {
      messageId: randomUUID(),
      role: 'ROLE_USER',
      contextId,
      parts: [{ data: { skill: 'look', arguments: {} } }],
    }
    const sending = { message, configuration: { returnImmediately: true } }
    const path = `/a2a/agents/${installation.id}/message:send`
    const answer = await succeeded(platform.call('POST', path, { token, headers: A2A, body: sending }))
    // Its caller knows it by the name that they chose.
    expect(answer.task.contextId).toBe(contextId)
    return sent()
  }
  const text = { text: 'About my salary.' }
  await succeeded(
    platform.call('POST', `/console/conversations/${chat.id}/messages`, { token: person.token, body: text }),
  )
  const ofChat = await sent()
  expect(ofChat).toBe(chat.id)
  const first = await ask(one, agent, 'orders')
  expect(await ask(one, agent, 'orders'), 'the caller’s own context goes on').toBe(first)
  const others = [
    await ask(other, agent, 'orders'),
    await ask(stranger, elsewhere, 'orders'),
    await ask(one, agent, chat.id),
    await ask(one, agent, first),
  ]
  expect(new Set([ofChat, first, ...others]).size).toBe(6)
})
