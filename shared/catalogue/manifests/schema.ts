import * as z from 'zod'
import { oneLine } from '#shared/foundation/schemas/index.ts'
import { lazily } from '#shared/kernel/lazily.ts'
import { LIMITS } from '#shared/kernel/limits.ts'
import { SCOPE_NAMES } from '#shared/kernel/scopes.ts'

/**
 * Documentation of a manifest field. The validator, the JSON Schema for editors and the type {@link Manifest} derive from
 * one declaration (contract/apps-and-manifests.md#manifests). Messages read as a continuation of the field's name. Rules
 * that a schema can't express, such as the app's scopes and forbidden addresses, are in `rules.ts`.
 */
interface FieldMeta {
  title: string
  description: string
  examples?: unknown[]
  default?: unknown
  /** Fix for an invalid value, used only by the validator. */
  fix: string
  /** Name in the published schema's `$defs`, for types that zod can't express. */
  schemaRef?: string
}

const field = <T extends z.ZodType>(schema: T, meta: FieldMeta): T => schema.meta({ ...meta })

/** Matches Semantic Versioning 2.0.0, as suggested by semver.org. */
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/

const VENDOR_AND_SLUG = /^[a-z0-9][a-z0-9-]{0,38}[a-z0-9]\.[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$/
const HEADER_NAME = /^[A-Za-z][A-Za-z0-9-]{0,63}$/
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

const text = (max: number) => z.string().max(max).regex(/\S/, { error: 'must not be empty', abort: true })

const address = (title: string, description: string, example: string) =>
  field(z.string().min(1).max(2_048), {
    title,
    description,
    examples: [example],
    fix: 'Use a public https address without credentials.',
  })

const schemaObject = (meta: Omit<FieldMeta, 'fix'>) =>
  field(z.record(z.string(), z.unknown()), {
    ...meta,
    fix: 'Use a JSON Schema: {"type": "object", "properties": {…}}.',
  })

const webhookRuntime = () =>
  field(
    z.strictObject({
      type: z.literal('webhook').meta({ description: 'The platform sends runs to your endpoint.' }),
      endpoint: address(
        'Endpoint',
        'URL that receives each run as a signed POST of `run.execute`. Must be a public https address.',
        'https://agent.example.com/run',
      ),
      resume: field(z.boolean().optional(), {
        title: 'Send again after a decision',
        description: 'If true, a run that waited for an approval is sent again with `resume` after the decision.',
        default: false,
        fix: 'Use true or false.',
      }),
      retry: field(
        z
          .strictObject({
            max_attempts: field(z.int().min(1).max(LIMITS.agentAttempts), {
              title: 'Maximum attempts',
              description: 'Number of times that a run is sent at most, the first included.',
              examples: [3],
              fix: 'Use an integer from 1 to 5.',
            }),
          })
          .optional(),
        {
          title: 'Send again if it didn’t arrive',
          description:
            'If present, a run that didn’t reach your endpoint, or got 502, 503, 504 or 429 with Retry-After, is sent again ' +
            'with the same run id and webhook-id. Your agent must do the work of a run id once.',
          examples: [{ max_attempts: 3 }],
          fix: 'Use {"max_attempts": 3}, or remove the field.',
        },
      ),
    }),
    {
      title: 'Webhook runtime',
      description: 'The agent runs on your own service.',
      fix: 'Use {"type": "webhook", "endpoint": "https://…"}.',
    },
  )

const inlineRuntime = () =>
  field(
    z.strictObject({
      type: z.literal('inline').meta({ description: 'The platform runs the agent on a language model.' }),
      model: field(text(200).optional(), {
        title: 'Model',
        description: 'Name of the model. Default: the deployment’s default model.',
        examples: ['small'],
        fix: 'Name a model, or remove the field.',
      }),
      instructions: field(text(20_000), {
        title: 'Instructions',
        description: 'Purpose and behavior of the agent, used as the language model’s system prompt.',
        examples: ['You answer questions about the stock of a shop. Be brief.'],
        fix: 'Write 1 to 20,000 characters of instructions.',
      }),
      max_steps: field(z.int().min(1).max(50).optional(), {
        title: 'Maximum steps',
        description: 'Number of times that the model may call tools in one run.',
        examples: [8],
        fix: 'Use an integer from 1 to 50.',
      }),
    }),
    {
      title: 'Inline runtime',
      description: 'The agent is a language model with instructions and platform tools.',
      fix: 'Use {"type": "inline", "instructions": "…"}.',
    },
  )

const a2aAuth = () =>
  field(
    z.strictObject({
      type: field(z.enum(['bearer', 'api_key', 'client_credentials']), {
        title: 'Kind',
        description: 'A bearer token, an API key in a header, or a token got by OAuth 2 client credentials.',
        fix: 'Use "bearer", "api_key" or "client_credentials".',
      }),
      setting: field(z.string().min(1).max(64), {
        title: 'Setting',
        description: 'Name of the `writeOnly` property of `config` that holds the token, key or client secret.',
        examples: ['api_token'],
        fix: 'Name a property of config with "writeOnly": true.',
      }),
      header: field(z.string().regex(HEADER_NAME, 'must be the name of a header').optional(), {
        title: 'Header',
        description: 'Header of an API key. Default: `X-API-Key`.',
        examples: ['X-API-Key'],
        fix: 'Use a letter, then up to 63 letters, digits or -.',
      }),
      token_url: address('Token address', 'OAuth 2 token endpoint.', 'https://auth.example.com/token').optional(),
      client_id_setting: field(z.string().min(1).max(64).optional(), {
        title: 'Setting of the client id',
        description: 'Name of the property of `config` that holds the OAuth 2 client id.',
        examples: ['client_id'],
        fix: 'Name a property of config.',
      }),
      scope: field(text(1_000).optional(), {
        title: 'Scope',
        description: 'Scopes to ask the token endpoint for.',
        examples: ['agent.run'],
        fix: 'Use the scopes of the agent, separated by spaces.',
      }),
    }),
    {
      title: 'Credentials',
      description: 'Credentials that every workspace gives in its settings. They are sent to the agent only.',
      fix: 'Use {"type": "bearer", "setting": "…"}, or remove the field.',
    },
  )

const a2aRuntime = () =>
  field(
    z.strictObject({
      type: z.literal('a2a').meta({ description: 'The platform sends runs to an A2A agent as messages.' }),
      card_url: address(
        'Address of the card',
        'URL of the agent’s A2A card. Publishing fetches it, and runs use the interface that it names then.',
        'https://agent.example.com/.well-known/agent-card.json',
      ),
      skill: field(text(200).optional(), {
        title: 'Skill',
        description: 'Skill of the card that gets each run’s input as `{skill, arguments}`. Default: the input’s text.',
        examples: ['check_stock'],
        fix: 'Name a skill of the card, or remove the field.',
      }),
      auth: a2aAuth().optional(),
    }),
    {
      title: 'A2A runtime',
      description: 'The agent runs elsewhere and speaks A2A.',
      fix: 'Use {"type": "a2a", "card_url": "https://…"}.',
    },
  )

const hint = (title: string, description: string) =>
  field(z.boolean().optional(), { title, description, fix: 'Use true or false.' })

/** Presentation of a tool to MCP clients (contract/mcp.md#agents-tools). */
const toolForMcp = () =>
  field(
    z.strictObject({
      annotations: field(
        z
          .strictObject({
            title: field(oneLine(text(80)).optional(), {
              title: 'Title',
              description: 'Name of the tool for people.',
              examples: ['Check stock'],
              fix: 'Use 1 to 80 visible characters on one line.',
            }),
            readOnlyHint: hint('Read only', 'If true, the tool changes nothing.'),
            destructiveHint: hint('Destructive', 'If true, the tool may delete or overwrite something.'),
            idempotentHint: hint('Idempotent', 'If true, repeating a call changes nothing more.'),
            openWorldHint: hint('Open world', 'If true, the tool reaches beyond the workspace.'),
          })
          .optional(),
        {
          title: 'Annotations',
          description: 'Hints of the Model Context Protocol. Default: `openWorldHint`.',
          fix: 'Use {"readOnlyHint": true} or the other hints of the protocol.',
        },
      ),
      requires: field(
        z
          .array(
            field(z.enum(['elicitation', 'sampling', 'roots', 'tasks']), {
              title: 'Capability',
              description: 'Capability of an MCP client.',
              fix: 'Use elicitation, sampling, roots or tasks.',
            }),
          )
          .max(4)
          .optional(),
        {
          title: 'Required capabilities',
          description:
            'Capabilities that an MCP client needs to call the tool. The protocol deprecates sampling and roots since ' +
            '2026-07-28, so don’t build on them.',
          examples: [['elicitation']],
          fix: 'List elicitation, sampling, roots or tasks.',
        },
      ),
      task: field(z.enum(['never', 'auto', 'always']).optional(), {
        title: 'Task',
        description: 'Whether a call becomes a task that the client follows: never, after 5 seconds, or at once.',
        default: 'auto',
        fix: 'Use "never", "auto" or "always".',
      }),
    }),
    {
      title: 'MCP',
      description: 'How clients of the Model Context Protocol call the tool.',
      fix: 'Use {"annotations": {…}, "requires": […], "task": "auto"}, or remove the field.',
    },
  )

const tool = () =>
  field(
    z.strictObject({
      name: field(z.string().regex(TOOL_NAME, 'must be a letter followed by up to 63 letters, digits, _ or -'), {
        title: 'Name',
        description: 'Name by which other agents call the tool. Unique within the manifest.',
        examples: ['check_stock'],
        fix: 'Use a letter, then up to 63 letters, digits, _ or -.',
      }),
      description: field(text(2_000), {
        title: 'Description',
        description: 'What the tool does and when to use it, for the agents and people that choose it.',
        examples: ['Returns how many items of a product are in stock.'],
        fix: 'Describe the tool in 1 to 2,000 characters.',
      }),
      input_schema: schemaObject({
        title: 'Input schema',
        description: 'JSON Schema of type object. The arguments of `ask_agent` are checked against it.',
        schemaRef: 'inputSchema',
      }),
      output_schema: schemaObject({
        title: 'Output schema',
        description: 'JSON Schema of the tool’s output.',
        schemaRef: 'schema',
      }).optional(),
      mcp: toolForMcp().optional(),
    }),
    {
      title: 'Tool',
      description: 'Tool that other agents can ask this agent to use.',
      fix: 'Describe the tool as an object.',
    },
  )

/** A schedule that people can turn on (contract/schedules.md#proposals). What its parts need of each other is in `rules.ts`. */
const proposal = () =>
  field(
    z.strictObject({
      key: field(z.string().regex(TOOL_NAME, 'must be a letter followed by up to 63 letters, digits, _ or -'), {
        title: 'Key',
        description: 'Name of the proposal in all versions. Unique within the manifest.',
        examples: ['weekly_summary'],
        fix: 'Use a letter, then up to 63 letters, digits, _ or -.',
      }),
      name: field(oneLine(text(100)), {
        title: 'Name',
        description: 'Name of the schedule for people.',
        examples: ['Every Monday, sum up the week'],
        fix: 'Use 1 to 100 visible characters on one line.',
      }),
      when: field(
        z.strictObject({
          cron: field(text(200).optional(), {
            title: 'Cron expression',
            description: 'Five fields: minute, hour, day of month, month and weekday.',
            examples: ['0 9 * * MON'],
            fix: 'Use five fields, such as "0 9 * * MON".',
          }),
          time_zone: field(text(100).optional(), {
            title: 'Time zone',
            description:
              'IANA name of the expression’s zone. Default: the zone of the person who turns the schedule on.',
            examples: ['Europe/Amsterdam'],
            fix: 'Use a name such as "Europe/Amsterdam", or remove the field.',
          }),
          every: field(text(60).optional(), {
            title: 'Interval',
            description: 'Elapsed time between two starts: an ISO 8601 duration of a minute or more.',
            examples: ['PT1H'],
            fix: 'Use a duration such as "PT1H".',
          }),
          event: field(
            z
              .string()
              .max(120)
              .regex(/^[a-z]+(\.[A-Za-z0-9_-]+)*(\.\*)?$/, 'must be an event type, or a mask such as task.*')
              .optional(),
            {
              title: 'Event',
              description:
                'Type of the events that start runs, or a mask. Whoever turns it on needs an agent that may read them.',
              examples: ['task.created'],
              fix: 'Use a type such as "task.created", or a mask such as "task.*".',
            },
          ),
          match: field(
            z.record(z.string().max(100), z.union([z.string().max(200), z.number(), z.boolean(), z.null()])).optional(),
            {
              title: 'Match',
              description: 'Values that fields of the event’s data must have, by path.',
              examples: [{ status: 'review' }],
              fix: 'Use an object such as {"status": "review"}.',
            },
          ),
        }),
        {
          title: 'When',
          description: 'When the schedule starts a run: `cron`, `every` or `event`.',
          fix: 'Use {"cron": "0 9 * * MON"}, {"every": "PT1H"} or {"event": "task.created"}.',
        },
      ),
      start: field(
        z.strictObject({
          input: field(z.record(z.string(), z.unknown()).optional(), {
            title: 'Input',
            description: 'Input of the runs.',
            examples: [{ topic: 'the week' }],
            fix: 'Use a JSON object.',
          }),
          tool: field(z.string().max(64).optional(), {
            title: 'Tool',
            description: 'A tool of this manifest, which the runs start with.',
            examples: ['check_stock'],
            fix: 'Name a tool of the manifest.',
          }),
          arguments: field(z.record(z.string(), z.unknown()).optional(), {
            title: 'Arguments',
            description: 'Arguments of `tool`.',
            examples: [{ sku: 'mug' }],
            fix: 'Use a JSON object.',
          }),
        }),
        {
          title: 'Start',
          description: 'What the runs start with: `input`, or `tool` with `arguments`.',
          fix: 'Use {"input": {…}} or {"tool": "…", "arguments": {…}}.',
        },
      ),
    }),
    {
      title: 'Schedule',
      description: 'Schedule that the agent proposes. It is off until a person turns it on.',
      fix: 'Use {"key": "…", "name": "…", "when": {…}, "start": {…}}.',
    },
  )

export const manifestSchema = lazily(() =>
  field(
    z.strictObject({
      $schema: field(z.string().max(2_048).optional(), {
        title: 'Schema',
        description: 'URL of this schema, for completion in editors.',
        fix: 'Use the URL of the manifest’s JSON Schema, or remove the field.',
      }),
      id: field(z.string().regex(VENDOR_AND_SLUG, 'must have the form <vendor>.<slug>'), {
        title: 'Agent id',
        description:
          'Your vendor name, a dot, and the app’s slug. Your first published manifest fixes the vendor name.',
        examples: ['acme.stock-helper'],
        fix: 'Join a vendor name (2–40 of a–z, 0–9, -) and the app’s slug (3–40) with a dot: "acme.stock-helper".',
      }),
      version: field(z.string().max(64).regex(SEMVER, 'must be a semantic version'), {
        title: 'Version',
        description:
          'Semantic version (semver.org, 2.0.0). Published versions are immutable, so increase it to publish again.',
        examples: ['1.0.0', '1.1.0-beta.1'],
        fix: 'Use three numbers such as "1.0.0", without "v" and without leading zeros.',
      }),
      name: field(oneLine(text(80)), {
        title: 'Name',
        description: 'Name that people see in the marketplace and in their workspace.',
        examples: ['Stock helper'],
        fix: 'Use 1 to 80 visible characters on one line, without control, direction or invisible characters.',
      }),
      summary: field(text(300), {
        title: 'Summary',
        description: 'One sentence about what the agent does.',
        examples: ['Answers questions about the stock of a shop.'],
        fix: 'Use 1 to 300 characters.',
      }),
      runtime: field(z.discriminatedUnion('type', [webhookRuntime(), inlineRuntime(), a2aRuntime()]), {
        title: 'Runtime',
        description: 'Place where the agent runs.',
        fix: 'Use {"type": "webhook", "endpoint": "https://…"}, {"type": "inline", "instructions": "…"} or {"type": "a2a", "card_url": "https://…"}.',
      }),
      tools: field(z.array(tool()).max(LIMITS.toolsPerManifest).optional(), {
        title: 'Tools',
        description: 'Tools that other agents can ask this agent to use.',
        fix: `List at most ${LIMITS.toolsPerManifest} tools.`,
      }),
      schedules: field(z.array(proposal()).max(LIMITS.schedulesPerManifest).optional(), {
        title: 'Schedules',
        description: 'Schedules that the agent proposes. Each one is off until a person turns it on.',
        examples: [
          [
            {
              key: 'weekly_summary',
              name: 'Every Monday, sum up the week',
              when: { cron: '0 9 * * MON' },
              start: { input: { topic: 'the week' } },
            },
          ],
        ],
        fix: `List at most ${LIMITS.schedulesPerManifest} schedules.`,
      }),
      a2a: field(
        z
          .strictObject({
            messages: field(z.boolean().optional(), {
              title: 'Messages',
              description:
                'If true, A2A clients may send any message: run.execute has `input.text` and `message`. Otherwise they can only call declared tools.',
              default: false,
              fix: 'Use true or false.',
            }),
          })
          .optional(),
        {
          title: 'A2A',
          description: 'What A2A clients can send besides calls of declared tools.',
          fix: 'Use {"messages": true}, or remove the field.',
        },
      ),
      config: schemaObject({
        title: 'Settings',
        description:
          'JSON Schema of an object of scalars. The settings form of an installation is generated from it. ' +
          '`writeOnly` marks a secret, which is stored encrypted and never shown again.',
        schemaRef: 'config',
        examples: [
          {
            type: 'object',
            properties: {
              api_key: { type: 'string', title: 'API key', writeOnly: true },
              region: { type: 'string', enum: ['eu', 'us'], default: 'eu' },
            },
            required: ['api_key'],
          },
        ],
      }).optional(),
      scopes: field(
        z
          .array(
            field(z.string().max(64), {
              title: 'Scope',
              description: 'Name of a scope.',
              fix: 'Use scopes listed by GET /oauth/scopes.',
              schemaRef: 'scope',
            }),
          )
          .max(SCOPE_NAMES.length)
          .optional(),
        {
          title: 'Scopes',
          description: 'Scopes that this version needs, out of the app’s requested_scopes.',
          examples: [['runs:write', 'tools:invoke']],
          fix: 'List scopes from GET /oauth/scopes, each once.',
        },
      ),
      surface: field(
        z
          .strictObject({
            url: address('Address', 'Page that the console shows in an iframe.', 'https://agent.example.com/panel'),
          })
          .optional(),
        {
          title: 'Surface',
          description: 'Your page that the console shows in an iframe, with a 5-minute read-only token.',
          fix: 'Use {"url": "https://…"}, or remove the field.',
        },
      ),
    }),
    {
      title: 'Agent manifest',
      description: 'Description of an agent: its runtime, tools and settings. Published as an immutable version.',
      fix: 'Send the manifest as a JSON object.',
    },
  ),
)

/** Valid manifest. Without `tools` the agent has no tools, and without `config` it has no settings. */
export type Manifest = z.infer<ReturnType<typeof manifestSchema>>

/** A schedule that a manifest proposes. */
export type ManifestSchedule = NonNullable<Manifest['schedules']>[number]
