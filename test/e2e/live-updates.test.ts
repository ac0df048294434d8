import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { LIMITS } from '#shared/kernel/limits.ts'
import { must, send, until } from './support.ts'
import { usingLocal } from './using-local.ts'

const running = usingLocal()
const sockets: WebSocket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.terminate()
})

interface Person {
  token: string
  workspace: string
  name: string
}

const signIn = async (workspace: string, role = 'member', name: string = randomUUID()): Promise<Person> => {
  const { token } = await must(running.baseUrl, 'POST', '/console/session', { body: { user: name, workspace, role } })
  return { token, workspace, name }
}

// biome-ignore lint/suspicious/noExplicitAny: messages have several shapes
type Message = any

/** Opens a live connection, as the console's page does. */
const open = async (token: unknown, options: { origin?: string } = {}) => {
  const socket = new WebSocket(`${running.baseUrl.replace('http', 'ws')}/live`, options)
  sockets.push(socket)
  const messages: Message[] = []
  let closed = false
  socket.on('message', (data) => messages.push(JSON.parse(data.toString())))
  socket.on('close', () => {
    closed = true
  })
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  const hello = () => socket.send(JSON.stringify({ type: 'hello', token }))
  hello()
  return {
    socket,
    messages,
    hello,
    isClosed: () => closed,
    counts: () => messages.findLast(({ type }) => type === 'updates')?.counts,
    first: () => until(() => (messages.length > 0 ? messages[0] : undefined)),
    next: (count: number) => until(() => (messages.length > count ? messages.at(-1) : undefined)),
    ended: () => until(() => (closed ? { reason: messages.at(-1)?.reason } : undefined)),
  }
}

const createTask = ({ token }: Person) =>
  must(running.baseUrl, 'POST', '/console/tasks', { token, body: { title: 'Count the stock', description: 'All.' } })

/** Long enough for a message that should not come. */
const quiet = () => sleep(1_500)

describe('a live connection', () => {
  it('brings its own workspace’s changes, and nothing of another one', async () => {
    const [ann, other] = [await signIn(randomUUID()), await signIn(randomUUID())]
    const [page, foreign] = [await open(ann.token), await open(other.token)]
    const before = (await page.first()).counts.tasks
    await foreign.first()
    await createTask(ann)
    expect((await page.next(1)).counts.tasks).toBe(before + 1)
    await quiet()
    expect(foreign.messages).toHaveLength(1)
  })

  it('reveals a private conversation to nobody else in the workspace', async () => {
    const workspace = randomUUID()
    const [ann, bob] = [await signIn(workspace, 'owner'), await signIn(workspace)]
    // One after the other: two first pages at once may both count everything as changed.
    const own = await open(ann.token)
    const mine = (await own.first()).counts
    const others = await open(bob.token)
    const theirs = (await others.first()).counts
    const { items } = await must(running.baseUrl, 'GET', '/console/conversations', { token: ann.token })
    const [{ id }] = items
    await must(running.baseUrl, 'POST', `/console/conversations/${id}/messages`, {
      token: ann.token,
      body: { text: 'Hello' },
    })
    await until(() => (own.counts().messages > mine.messages ? true : undefined))
    await quiet()
    expect(others.counts().messages).toBe(theirs.messages)
    const late = await open(bob.token)
    expect((await late.first()).counts.messages).toBe(theirs.messages)
  })

  it('resumes after a lost connection without a gap, and repeats nothing to a page that compares', async () => {
    const ann = await signIn(randomUUID())
    const page = await open(ann.token)
    const before = (await page.first()).counts.tasks
    page.socket.terminate()
    await createTask(ann)
    await createTask(ann)
    await until(async () => {
      const { counts } = await must(running.baseUrl, 'GET', '/console/updates', { token: ann.token })
      return counts.tasks === before + 2 ? true : undefined
    })
    const again = await open(ann.token)
    expect((await again.first()).counts.tasks).toBe(before + 2)
    again.hello()
    expect((await again.next(1)).counts.tasks).toBe(before + 2)
  })

  it('ends when the session does, and brings nothing afterwards', async () => {
    const workspace = randomUUID()
    const [ann, bob] = [await signIn(workspace), await signIn(workspace)]
    const [page, others] = [await open(ann.token), await open(bob.token)]
    await Promise.all([page.first(), others.first()])
    await must(running.baseUrl, 'DELETE', '/console/session', { token: ann.token })
    expect(await page.ended()).toEqual({ reason: 'signed_out' })
    await createTask(bob)
    await others.next(1)
    expect(page.messages.filter(({ type }) => type === 'updates')).toHaveLength(1)
    expect(others.isClosed()).toBe(false)
  })

  it('ends when the person is removed from the workspace', async () => {
    const workspace = randomUUID()
    const [owner, bob] = [await signIn(workspace, 'owner'), await signIn(workspace)]
    const page = await open(bob.token)
    await page.first()
    const { user } = await must(running.baseUrl, 'GET', '/console/me', { token: bob.token })
    await must(running.baseUrl, 'DELETE', `/console/members/${user.id}`, { token: owner.token })
    expect(await page.ended()).toEqual({ reason: 'signed_out' })
  })

  it('is refused to a wrong or ended token, a message of another form, and pages of other origins', async () => {
    const ann = await signIn(randomUUID())
    await must(running.baseUrl, 'DELETE', '/console/session', { token: ann.token })
    for (const [token, reason] of [
      ['nonsense', 'signed_out'],
      [ann.token, 'signed_out'],
      [42, 'invalid_message'],
      ['x'.repeat(LIMITS.liveMessageBytes), 'invalid_message'],
    ]) {
      expect(await (await open(token)).ended()).toEqual({ reason })
    }
    await expect(open(ann.token, { origin: 'https://example.com' })).rejects.toThrow('403')
  })

  it('is closed after too many messages', async () => {
    const page = await open((await signIn(randomUUID())).token)
    await page.first()
    for (let n = 0; n < 10; n++) page.hello()
    expect(await page.ended()).toEqual({ reason: 'too_many_messages' })
  })

  it('is limited in number for each person, and connections that have ended don’t count', async () => {
    const ann = await signIn(randomUUID())
    const pages = []
    for (let n = 0; n < LIMITS.liveConnectionsPerPerson; n++) {
      const page = await open(ann.token)
      await page.first()
      pages.push(page)
    }
    expect(await (await open(ann.token)).ended()).toEqual({ reason: 'too_many_connections' })
    pages[0]?.socket.terminate()
    await until(async () => {
      const page = await open(ann.token)
      await page.first()
      return page.messages[0].type === 'updates' ? true : undefined
    })
  })

  it('isn’t delayed by one that reads nothing', async () => {
    const ann = await signIn(randomUUID())
    const [slow, page] = [await open(ann.token), await open(ann.token)]
    await Promise.all([slow.first(), page.first()])
    slow.socket.pause()
    await createTask(ann)
    const began = performance.now()
    await page.next(1)
    expect(performance.now() - began).toBeLessThan(3_000)
  })

  it('reaches the page’s address, which its policy names exactly', async () => {
    const { text, headers } = await send(running.baseUrl, 'GET', '/app')
    const address = running.baseUrl.replace('http', 'ws')
    expect(text).toContain(`data-live="${address}/live"`)
    expect(headers.get('content-security-policy')).toMatch(new RegExp(`connect-src 'self' \\S+ ${address}(;|$)`))
  })
})
