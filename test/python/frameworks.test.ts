import { spawn } from 'node:child_process'
import { cpSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe } from 'vitest'
import { ROOT } from '#local/prepare.ts'
import { startModelServer } from '#testkit/model-server.ts'
import { using } from '#testkit/using.ts'
import { type FrameworkEnv, testFrameworkAgent } from '../e2e/framework-agents.ts'
import { usingLocal } from '../e2e/using-local.ts'
import { environmentOf, removingEnvironments } from './environment.ts'

const PACKAGES = [
  'uvicorn==0.54.0',
  'openai-agents==0.24.0',
  'langgraph==1.2.22',
  'langchain==1.4.7',
  'langchain-openai==1.7.3',
]

/** Makes OpenAI's SDK use the protocol that the scripted model speaks, and send no traces. */
const STUB = `try:
    from agents import set_default_openai_api, set_tracing_disabled
    set_default_openai_api("chat_completions")
    set_tracing_disabled(True)
except ImportError:
    pass
`

const running = usingLocal()
const model = using(startModelServer, (server) => server.close())
let folder = ''
let python = ''
removingEnvironments()
beforeAll(async () => {
  const environment = await environmentOf('frameworks', PACKAGES)
  ;({ folder, python } = environment)
  await environment.pip('wheel', '--no-deps', '--wheel-dir', folder, path.join(ROOT, 'packages/sdk-py'))
  const [wheel = ''] = readdirSync(folder).filter((name) => name.endsWith('.whl'))
  await environment.pip('install', path.join(folder, wheel))
  cpSync(path.join(ROOT, 'examples/frameworks/python'), folder, { recursive: true })
  writeFileSync(path.join(folder, 'sitecustomize.py'), STUB)
})

const start = (program: string, env: FrameworkEnv) =>
  spawn(python, [program], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, PYTHONPATH: folder, ...env },
  })

describe('an agent of the OpenAI Agents SDK', () => {
  testFrameworkAgent(running, model, (env) => start('serve_openai_agent.py', env), false)
})

describe('an agent of LangChain, a graph of LangGraph', () => {
  testFrameworkAgent(running, model, (env) => start('serve_graph.py', env), true)
})
