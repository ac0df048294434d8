import { setTimeout as pause } from 'node:timers/promises'
import { newApp, publish, type TestApp, type TestDeveloper } from '#test/functions/developer/support.ts'
import type { Answer, TestPlatform } from '#test/support/platform.ts'

/** A manifest may name an address that does not exist: nothing is resolved when it is published. */
export const PLACEHOLDER = 'https://agent.not-there.example/run'

export interface Heard {
  id: string
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape
  data: any
}

/** The events of a stream's text. */
const eventsOf = (text: string): Heard[] =>
  text.split('\n\n').flatMap((block) => {
    const fields = Object.fromEntries(
      block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    )
    return fields.event ? [{ id: fields.id ?? '', event: fields.event, data: JSON.parse(fields.data ?? 'null') }] : []
  })

/** An app with an agent that only a listener can reach, and its installation in the developer's sandbox. */
export const sandboxed = async (developer: TestDeveloper) => {
  const app = await newApp(developer, {
    requested_scopes: ['workspace:read', 'runs:read', 'runs:write', 'tools:invoke', 'webhooks:manage'],
  })
  const { status, text } = await publish(developer, app, { runtime: { type: 'webhook', endpoint: PLACEHOLDER } })
  if (status !== 201) throw new Error(text)
  const { body } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
  return { app, token: body.access_token as string }
}

/** One connection of a listener: what comes within 400 ms, as long as tests' streams last. */
export const listenOnce = async (developer: TestDeveloper, app: TestApp, lastEventId?: string): Promise<Heard[]> => {
  const headers = lastEventId === undefined ? undefined : { 'last-event-id': lastEventId }
  const { status, text } = await developer.call('GET', `/api/v1/dev/listen?app_id=${app.id}`, undefined, headers)
  if (status !== 200) throw new Error(text)
  return eventsOf(text)
}

export const answerTo = (developer: TestDeveloper, id: string, body: object): Promise<Answer> =>
  developer.call('POST', `/api/v1/dev/listen/${id}/answer`, body)

export const until = async <T>(ask: () => Promise<T | undefined> | T | undefined): Promise<T> => {
  for (let n = 0; n < 3_000; n++) {
    const found = await ask()
    if (found !== undefined) return found
    await pause(20)
  }
  throw new Error('what was waited for did not come')
}

/** Has the workers go on until something is done. */
export const working = async <T>(platform: TestPlatform, doing: Promise<T>): Promise<T> => {
  let done = false
  const ended = doing.finally(() => {
    done = true
  })
  ended.catch(() => {})
  while (!done) {
    await platform.drain()
    await pause(20)
  }
  return ended
}
