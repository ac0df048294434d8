import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '#local/free-port.ts'
import { ROOT } from '#local/prepare.ts'
import { must, newAgent, sandboxToken, until } from './support.ts'

const NAMES = { TypeScript: 'ts', Python: 'python' }

/** Returns the program of the guide for developers who bring an A2A agent. */
export const guideProgram = (language: keyof typeof NAMES): string => {
  const guide = readFileSync(path.join(ROOT, 'docs/guides/a2a-agents.md'), 'utf8')
  const block = new RegExp(`\`\`\`${NAMES[language]}[^\\n]*\\n([\\s\\S]*?)\`\`\``)
  const [, program] = block.exec(guide) ?? []
  if (program === undefined) throw new Error(`the guide has no program in ${language}`)
  return program
}

/** Starts an agent's program on a free port, and waits until it serves its card. */
export const startProgram = async (
  command: string,
  args: string[],
): Promise<{ url: string; program: ChildProcess }> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const program = spawn(command, args, { env: { ...process.env, PORT: String(port), BASE: url }, stdio: 'ignore' })
  await until(async () => {
    const card = await fetch(`${url}/.well-known/agent-card.json`).catch(() => undefined)
    return card?.ok === true ? card : undefined
  })
  return { url, program }
}

/** Registers the guide's agent by its card, starts a run that makes it ask, answers, and returns the ended run. */
export const askGuideAgent = async (baseUrl: string, url: string) => {
  const agent = await newAgent(baseUrl, {
    runtime: { type: 'a2a', card_url: `${url}/.well-known/agent-card.json` },
    scopes: ['runs:read', 'runs:write'],
  })
  const token = await sandboxToken(baseUrl, agent)
  const { id } = await must(baseUrl, 'POST', '/api/v1/runs', { token, body: { input: { text: 'How many?' } } })
  // Slowly enough for an installation's rate limit.
  const read = async () => {
    await sleep(150)
    return must(baseUrl, 'GET', `/api/v1/runs/${id}`, { token })
  }
  const question = await until(async () =>
    (await read()).steps.find(({ type }: { type: string }) => type === 'input_request'),
  )
  await must(baseUrl, 'POST', `/api/v1/runs/${id}/input`, {
    token,
    body: { responses: { question_1: { action: 'accept', content: { text: 'red mugs' } } } },
  })
  const run = await until(async () => {
    const now = await read()
    return now.finished_at ? now : undefined
  })
  return { question, run }
}
