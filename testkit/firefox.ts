import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Time after which a Firefox that hasn't begun to listen is given up, in milliseconds. */
const START_MS = 60_000

interface Answer {
  id?: number
  type: string
  method?: string
  params?: { level?: string; text?: string }
  error?: string
  message?: string
  result?: Record<string, never>
}

/** A window of Firefox. */
export interface FirefoxWindow {
  goto(url: string): Promise<void>
  /** Evaluates an expression, and waits for its promise. */
  evaluate<T>(expression: string): Promise<T>
  resize(width: number, height: number): Promise<void>
  /** Errors that scripts threw since the start. */
  errors: string[]
  close(): Promise<void>
}

/** Waits until Firefox prints the address at which it takes commands. */
const listening = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let printed = ''
    const timer = setTimeout(() => reject(new Error(`Firefox didn’t start.\n${printed}`)), START_MS)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`Firefox ended with ${code}.\n${printed}`)))
    child.stderr?.on('data', (data) => {
      printed += data
      const address = /WebDriver BiDi listening on (ws:\S+)/.exec(printed)?.[1]
      if (!address) return
      clearTimeout(timer)
      resolve(address)
    })
  })

const connect = async (address: string) => {
  const socket = new WebSocket(`${address}/session`)
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve()
    socket.onerror = () => reject(new Error('Firefox refused the connection.'))
  })
  const errors: string[] = []
  const waiting = new Map<number, (answer: Answer) => void>()
  socket.onmessage = ({ data }) => {
    const answer: Answer = JSON.parse(String(data))
    if (answer.method === 'log.entryAdded' && answer.params?.level === 'error') errors.push(answer.params.text ?? '')
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
  }
  let sent = 0
  // biome-ignore lint/suspicious/noExplicitAny: each command has an answer of its own
  const send = (method: string, params: object = {}): Promise<any> =>
    new Promise((resolve, reject) => {
      const id = ++sent
      waiting.set(id, ({ type, error, message, result }) => {
        waiting.delete(id)
        if (type === 'error') reject(new Error(`${method}: ${error}: ${message}`))
        else resolve(result)
      })
      socket.send(JSON.stringify({ id, method, params }))
    })
  return { send, errors, disconnect: () => socket.close() }
}

/**
 * Starts a headless Firefox with a profile of its own, and drives it by WebDriver BiDi, which it speaks without a driver.
 * @param command name or path of the program
 */
export const startFirefox = async (command: string): Promise<FirefoxWindow> => {
  const profile = await mkdtemp(path.join(tmpdir(), 'firefox-'))
  const child = spawn(command, ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // Firefox writes to the home, too.
    env: { ...process.env, HOME: profile },
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill()
    await ended
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
  try {
    const { send, errors, disconnect } = await connect(await listening(child))
    await send('session.new', { capabilities: {} })
    await send('session.subscribe', { events: ['log.entryAdded'] })
    const { contexts } = await send('browsingContext.getTree')
    const { context } = contexts[0]
    return {
      errors,
      goto: async (url) => {
        await send('browsingContext.navigate', { context, url, wait: 'complete' })
      },
      evaluate: async (expression) => {
        // As text, because the protocol's own form of values names the type of each part.
        const text = `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`
        const { result, exceptionDetails } = await send('script.evaluate', {
          expression: text,
          target: { context },
          awaitPromise: true,
        })
        if (exceptionDetails) throw new Error(exceptionDetails.text)
        return JSON.parse(result.value)
      },
      resize: async (width, height) => {
        await send('browsingContext.setViewport', { context, viewport: { width, height } })
      },
      close: async () => {
        disconnect()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}
