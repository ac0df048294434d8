export type Language = 'ts' | 'py'

export interface Project {
  slug: string
  vendor: string
  name: string
  summary: string
  endpoint: string
  /** Version of the SDK. */
  version: string
}

const manifest = ({ slug, vendor, name, summary, endpoint }: Project): string =>
  `${JSON.stringify(
    {
      id: `${vendor}.${slug}`,
      version: '1.0.0',
      name,
      summary,
      runtime: { type: 'webhook', endpoint },
      tools: [
        {
          name: 'greet',
          description: 'Greets a person by name.',
          input_schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        },
      ],
      scopes: ['runs:read', 'runs:write'],
    },
    null,
    2,
  )}\n`

const PACKAGE = ({ slug, version }: Project): string =>
  `${JSON.stringify(
    {
      name: slug,
      private: true,
      type: 'module',
      engines: { node: '>=22.18' },
      scripts: { start: 'node --env-file=.env agent.ts' },
      dependencies: { '@agent-integration-platform/sdk': `^${version}` },
    },
    null,
    2,
  )}\n`

const TYPESCRIPT = `import { createServer } from 'node:http'
import { AgentError, createAgent } from '@agent-integration-platform/sdk'
import { node } from '@agent-integration-platform/sdk/adapters'

const agent = createAgent({
  secret: process.env.SIGNING_SECRET ?? '',
  async onRun(run) {
    const { name } = run.input
    if (typeof name !== 'string') throw new AgentError('name_missing', 'The input has no name to greet.')
    await run.step('Writing a greeting')
    return { text: \`Hello, \${name}!\` }
  },
})

const port = Number(process.env.PORT ?? 8080)
createServer(node(agent)).listen(port, () => console.log(\`listening on \${port}\`))
`

const PYTHON = `import os

from agent_integration_platform import AgentError, AsyncRun, create_async_agent
from agent_integration_platform.adapters import asgi


async def on_run(run: AsyncRun) -> dict:
    name = run.input.get("name")
    if not isinstance(name, str):
        raise AgentError("name_missing", "The input has no name to greet.")
    await run.step("Writing a greeting")
    return {"text": f"Hello, {name}!"}


app = asgi(create_async_agent(secret=os.environ["SIGNING_SECRET"], on_run=on_run))
`

const REQUIREMENTS = ({ version }: Project): string =>
  `agent-integration-platform~=${version}\nuvicorn>=0.30\npython-dotenv>=1\n`

/** Returns the files of a new agent by their names. */
export const filesOf = (language: Language, project: Project): Record<string, string> => ({
  'agent.json': manifest(project),
  ...(language === 'ts'
    ? { 'package.json': PACKAGE(project), 'agent.ts': TYPESCRIPT }
    : { 'requirements.txt': REQUIREMENTS(project), 'agent.py': PYTHON }),
})

/** Commands that install and start the agent. */
export const startOf = (language: Language): readonly string[] =>
  language === 'ts'
    ? ['npm install', 'npm start']
    : ['pip install -r requirements.txt', 'uvicorn agent:app --env-file .env --port 8080']

/** Lines of `.gitignore`. */
export const ignoredBy = (language: Language): readonly string[] =>
  language === 'ts' ? ['.env', 'node_modules'] : ['.env', '.venv', '__pycache__']
