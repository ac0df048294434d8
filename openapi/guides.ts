import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageScopeIn, withScope } from '#shared/kernel/package-names.ts'
import { parseCodeInfo } from './code-blocks.ts'
import { expandParts } from './guide-parts.ts'

const SOURCES = join(import.meta.dirname, '../docs/guides')

/** Guide that is the start page, `/docs`. The others are served under `/docs/<name>`. */
export const START = 'start'

/** Guides with their descriptions, in reading order, by the heading under which the navigation lists them. */
export const SECTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Get started': {
    'hosted-quickstart': 'Write an agent, run it on this platform, and send it to review.',
    quickstart: 'The platform and an agent on your own machine, call by call: run, webhooks, review, installation.',
    tunnel:
      'Your own platform, reached by agents elsewhere, phones and colleagues: one address, Caddy, nginx, a tunnel.',
  },
  'Build an agent': {
    runs: 'What starts a run, and every field of `run.execute`.',
    agents: 'Requests and answers, long-running work, tools, approvals, settings, and calls to other agents.',
    receipts: 'Prove later and offline who decided, in JavaScript, Python, Go, Java and Rust.',
    tasks: 'Answer in conversations, and work on tasks.',
    schedules:
      'Runs at set times: cron and clock changes, overlaps, missed times, failures, and proposals of your agent.',
    traces:
      'One trace from the request to the last webhook: SDKs of five languages, Phoenix, MLflow and the Collector.',
    surfaces: 'A page of yours next to the agent, with a token that only reads.',
    manifest: 'Every field, and how to choose a runtime.',
  },
  Publish: {
    sandbox: 'Your own workspace on the platform, for tests.',
    vendors: 'Your vendor name, your address, and the verified badge.',
    review: 'What is checked, how to answer, and what happens to later changes.',
    'going-live': 'A checklist for the day before customers install your agent.',
  },
  'Other protocols': {
    assistants: 'Your workspace’s agents in Claude, ChatGPT, Cursor and VS Code, signed in as yourself.',
    mcp: 'The platform’s tools, and those of other agents, in frameworks that speak the Model Context Protocol.',
    frameworks: 'Frameworks and MCP clients that were tried, with versions, and what each can’t do.',
    a2a: 'An installed agent, called by clients of the Agent2Agent protocol.',
    'a2a-agents': 'Your agent that already speaks the Agent2Agent protocol, registered by its card.',
  },
  'Use the API': {
    oauth: 'Get a customer’s consent, and exchange, refresh and revoke tokens.',
    'oauth-recipes': 'The consent flow with openid-client, Authlib, requests-oauthlib and Spring Security.',
    webhooks: 'Signatures, duplicates, retries, and every event type.',
    'low-code': 'Verified webhooks in Node-RED and n8n: the switch for the raw body, and ten lines.',
    'client-libraries': 'The SDKs, generated clients, and OAuth libraries, with the versions that are tested.',
    requests: 'Authentication, scopes, idempotency, pagination and retries.',
  },
  'Look up': {
    errors: 'Every error code, with its causes and how to fix it.',
    limits: 'Rate limits, sizes and lifetimes.',
    versioning: 'What stays stable, what can be added, and how manifests change.',
  },
}

/** Descriptions of the guides, in reading order. */
export const GUIDES: Readonly<Record<string, string>> = Object.assign({}, ...Object.values(SECTIONS))

/** A guide as Markdown, with its tables filled in. `{{base_url}}` is the placeholder for the platform’s address. */
export interface Guide {
  name: string
  title: string
  description: string
  markdown: string
}

const TITLE = /^# (.+)$/m

const guide = async (name: string, titles: Readonly<Record<string, string>>): Promise<Guide> => {
  const source = await readFile(join(SOURCES, `${name}.md`), 'utf8')
  const scope = packageScopeIn(await readFile(join(import.meta.dirname, '../cdk.json'), 'utf8'))
  const markdown = expandParts(withScope(source, scope), {
    guides: () =>
      Object.entries(SECTIONS)
        .map(([heading, own]) => {
          const links = Object.entries(own).map(([other, about]) => `- [${titles[other]}](${other}.md): ${about}`)
          return [`### ${heading}`, '', ...links].join('\n')
        })
        .join('\n\n'),
  })
  return { name, title: titles[name] ?? '', description: GUIDES[name] ?? '', markdown }
}

/**
 * Returns a guide's Markdown in its served form: code blocks keep their language and the name of their file, without what only this
 * repository's tests read.
 */
export const servedMarkdown = ({ markdown }: Guide): string =>
  markdown.replaceAll(/^```(\w+) (.*)$/gm, (_, language: string, words: string) => {
    const { file, tab } = parseCodeInfo(`${language} ${words}`)
    const title = file ?? (words.includes('tab=') ? tab : undefined)
    return `\`\`\`${language}${title ? ` title="${title}"` : ''}`
  })

/** Reads the start page and the guides, in reading order. */
export const readGuides = async (): Promise<{ start: Guide; guides: Guide[] }> => {
  const titleOf = async (name: string): Promise<[string, string]> => {
    const [, title] = TITLE.exec(await readFile(join(SOURCES, `${name}.md`), 'utf8')) ?? []
    if (title === undefined) throw new Error(`docs/guides/${name}.md has no title`)
    return [name, title]
  }
  const titles = Object.fromEntries(await Promise.all([START, ...Object.keys(GUIDES)].map(titleOf)))
  const guides = await Promise.all(Object.keys(GUIDES).map((name) => guide(name, titles)))
  return { start: await guide(START, titles), guides }
}
