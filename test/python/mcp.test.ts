import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, expect, it } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { lastResult, MODEL_KEY, startModelServer } from '#testkit/model-server.ts'
import { using, usingReceiver } from '#testkit/using.ts'
import { must, newAgent, sandboxToken } from '../e2e/support.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { environmentOf, removingEnvironments } from './environment.ts'

const PACKAGES = [
  'openai-agents==0.24.0',
  'langgraph==1.2.22',
  'langchain==1.4.7',
  'langchain-openai==1.7.3',
  'langchain-mcp-adapters==0.3.2',
]

const running = usingLocal()
const model = using(startModelServer, (server) => server.close())
const receiver = usingReceiver({ kind: 'answer', status: 202 })
let python = ''
removingEnvironments()
beforeAll(async () => {
  python = (await environmentOf('mcp', PACKAGES)).python
})

/** The guide's program below a heading. */
const programOf = (heading: string): string => {
  const guide = readFileSync(path.join(ROOT, 'docs/guides/mcp.md'), 'utf8')
  const section = guide.slice(guide.indexOf(`## ${heading}\n`))
  return /```python[^\n]*\n([\s\S]*?)```/.exec(section)?.[1] ?? ''
}

/** Parts that the guide leaves to the reader: the model's address, and the request that the agent got. */
const DRIVERS = {
  'OpenAI Agents SDK': `
import asyncio, json, sys
from agents import set_default_openai_api, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI
execute, url, key = json.load(sys.stdin)
set_tracing_disabled(True)
set_default_openai_api("chat_completions")
set_default_openai_client(AsyncOpenAI(base_url=url, api_key=key))
print(asyncio.run(answer(execute)))
`,
  LangGraph: `
import asyncio, json, sys
from langchain_openai import ChatOpenAI
execute, url, key = json.load(sys.stdin)
print(asyncio.run(answer(execute, ChatOpenAI(model="stub", base_url=url, api_key=key))))
`,
}

it.each(Object.entries(DRIVERS))('%s uses the platform’s tools as the guide says', async (heading, driver) => {
  const agent = await newAgent(running.baseUrl, {
    endpoint: receiver.url,
    scopes: ['workspace:read', 'runs:read', 'runs:write', 'tools:invoke'],
  })
  const token = await sandboxToken(running.baseUrl, agent)
  const before = receiver.requests.length
  const body = { input: { question: 'What is the workspace called?' } }
  await must(running.baseUrl, 'POST', '/api/v1/runs', { token, body })
  const request = (await receiver.received(before + 1)).at(-1)
  const execute = JSON.parse(String(request?.body))
  model.always((turn) => {
    const result = lastResult(turn)
    return result === undefined
      ? { calls: [{ tool: 'workspace_info', arguments: {} }] }
      : { text: `Told: ${JSON.stringify(result)}` }
  })
  const child = spawn(python, ['-c', programOf(heading) + driver], { stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.end(JSON.stringify([execute, model.url, MODEL_KEY]))
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect(output, errors).toMatch(/^Told: /)
  expect(output).toContain('time_zone')
  expect(model.requests.at(-1)?.tools).toContain('http_fetch')
})
