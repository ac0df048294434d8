import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { must, newAgent, type Running, until } from '../e2e/support.ts'

/** Starts a server, and waits until `isUp`. */
export const startServer = async (
  program: string,
  args: readonly string[],
  isUp: () => Promise<unknown>,
  env: Record<string, string> = {},
) => {
  const child: ChildProcess = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  const stop = async (): Promise<void> => {
    child.kill()
    await ended
  }
  try {
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`)
      return (await isUp().catch(() => false)) ? true : undefined
    }, 300_000)
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}

/** Turns of a model that calls a tool and then answers. */
export const TURNS = [
  { text: 'Let me see.', calls: [{ tool: 'workspace_info' }] },
  { text: 'Seven.', usage: { input: 70, output: 7, cached: 50, reasoning: 2 } },
]

/** Has a person ask an inline agent that may look at its workspace. Waits for the run's end and its last span. */
export const askedAgent = async ({ baseUrl, platform }: Omit<Running, 'stop'>, text = 'How many?') => {
  const agent = await newAgent(baseUrl, {
    runtime: { type: 'inline', instructions: 'Look.' },
    scopes: ['workspace:read', 'tools:invoke', 'chat:read', 'chat:write'],
  })
  await must(baseUrl, 'POST', `/api/v1/dev/apps/${agent.app.id}/sandbox-token`, { headers: agent.headers })
  const { token } = await must(baseUrl, 'POST', '/console/session', {
    body: { user: 'asker', workspace: agent.sandboxId },
  })
  const { items } = await must(baseUrl, 'GET', '/console/installations', { token })
  const { id: conversation } = await must(baseUrl, 'POST', '/console/conversations', {
    token,
    body: { installation_id: items[0].id },
  })
  const { run_id } = await must(baseUrl, 'POST', `/console/conversations/${conversation}/messages`, {
    token,
    body: { text },
  })
  const run = await until(async () => {
    const one = await must(baseUrl, 'GET', `/console/runs/${run_id}`, { token })
    return one.finished_at ? one : undefined
  })
  await platform.idle()
  return { run, conversation: conversation as string }
}
