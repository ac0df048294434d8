import * as z from 'zod'
import { LIMITS } from '../../kernel/limits.ts'
import { SCOPE_NAMES } from '../../kernel/scopes.ts'

/**
 * The manifest, declared once (specification "Manifest", decisions §7): the validator, the JSON Schema that editors
 * complete from and the type {@link Manifest} derive from it. Messages follow the field's name; how to mend a field is
 * its `fix` here. What a schema language cannot say (scopes of the app, forbidden addresses, …) is in `rules.ts`.
 */
interface FieldMeta {
  title: string
  description: string
  examples?: unknown[]
  default?: unknown
  /** How to mend a wrong value; for the validator only. */
  fix: string
  /** A name in the served schema's `$defs`, for what zod cannot express. */
  schemaRef?: string
}

const field = <T extends z.ZodType>(schema: T, meta: FieldMeta): T => schema.meta({ ...meta })

/** Semantic Versioning 2.0.0, the expression that semver.org suggests. */
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/

const VENDOR_AND_SLUG = /^[a-z0-9][a-z0-9-]{0,38}[a-z0-9]\.[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$/

const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

const text = (max: number) => z.string().max(max).regex(/\S/, 'must not be empty')

const address = (title: string, description: string, example: string) =>
  field(z.string().min(1).max(2_048), {
    title,
    description,
    examples: [example],
    fix: 'Give a public https address without credentials.',
  })

const schemaObject = (meta: Omit<FieldMeta, 'fix'>) =>
  field(z.record(z.string(), z.unknown()), {
    ...meta,
    fix: 'Give a JSON Schema: {"type": "object", "properties": {…}}.',
  })

const webhookRuntime = field(
  z.strictObject({
    type: z.literal('webhook').meta({ description: 'Runs are sent to your own endpoint.' }),
    endpoint: address(
      'Endpoint',
      'Where each run is sent: a signed POST of `run.execute`. Must be a public https address.',
      'https://agent.example.com/run',
    ),
    resume: field(z.boolean().optional(), {
      title: 'Send again after a decision',
      description: 'When true, a run that waited for an approval is sent again with `resume` once a person decided.',
      default: false,
      fix: 'Give true or false.',
    }),
  }),
  {
    title: 'Webhook runtime',
    description: 'The agent is your own service.',
    fix: 'Give {"type": "webhook", "endpoint": "https://…"}.',
  },
)

const inlineRuntime = field(
  z.strictObject({
    type: z.literal('inline').meta({ description: 'The platform runs the agent on a language model.' }),
    model: field(text(200).optional(), {
      title: 'Model',
      description: 'The name of the model; the deployment’s default when left out.',
      examples: ['small'],
      fix: 'Name a model, or leave it out.',
    }),
    instructions: field(text(20_000), {
      title: 'Instructions',
      description: 'What the agent is for and how it behaves; the language model’s system prompt.',
      examples: ['You answer questions about the stock of a shop. Be brief.'],
      fix: 'Write 1 to 20,000 characters of instructions.',
    }),
    max_steps: field(z.int().min(1).max(50).optional(), {
      title: 'Most steps',
      description: 'How many times the model may call tools in one run.',
      examples: [8],
      fix: 'Give a whole number from 1 to 50.',
    }),
  }),
  {
    title: 'Inline runtime',
    description: 'The agent is a language model with instructions and platform tools.',
    fix: 'Give {"type": "inline", "instructions": "…"}.',
  },
)

const tool = field(
  z.strictObject({
    name: field(z.string().regex(TOOL_NAME, 'must be a letter followed by up to 63 letters, digits, _ or -'), {
      title: 'Name',
      description: 'How other agents call it. Unique within the manifest.',
      examples: ['check_stock'],
      fix: 'Use a letter, then up to 63 letters, digits, _ or -.',
    }),
    description: field(text(2_000), {
      title: 'Description',
      description: 'What it does and when to use it, for the agents and people that choose it.',
      examples: ['Tells how many pieces of a product are in stock.'],
      fix: 'Describe it in 1 to 2,000 characters.',
    }),
    input_schema: schemaObject({
      title: 'Input schema',
      description: 'A JSON Schema of type object. Arguments of `ask_agent` are checked against it.',
      schemaRef: 'inputSchema',
    }),
    output_schema: schemaObject({
      title: 'Output schema',
      description: 'A JSON Schema of what the tool answers.',
      schemaRef: 'schema',
    }).optional(),
  }),
  {
    title: 'Tool',
    description: 'Something that other agents can ask this agent for.',
    fix: 'Describe the tool as an object.',
  },
)

export const manifestSchema = field(
  z.strictObject({
    $schema: field(z.string().max(2_048).optional(), {
      title: 'Schema',
      description: 'The address of this schema, so that editors complete the file.',
      fix: 'Give the address of the manifest’s JSON Schema, or leave it out.',
    }),
    id: field(z.string().regex(VENDOR_AND_SLUG, 'must have the form <vendor>.<slug>'), {
      title: 'Agent id',
      description: 'Your vendor name, a dot, and the app’s slug. The vendor is fixed by your first publication.',
      examples: ['acme.stock-helper'],
      fix: 'Join a vendor name (2–40 of a–z, 0–9, -) and the app’s slug (3–40) with a dot: "acme.stock-helper".',
    }),
    version: field(z.string().max(64).regex(SEMVER, 'must be a semantic version'), {
      title: 'Version',
      description:
        'A semantic version (semver.org, 2.0.0). Published versions are immutable; raise it to publish again.',
      examples: ['1.0.0', '1.1.0-beta.1'],
      fix: 'Give three numbers such as "1.0.0", without "v" and without leading zeros.',
    }),
    name: field(text(80), {
      title: 'Name',
      description: 'What people see in the marketplace and in their workspace.',
      examples: ['Stock helper'],
      fix: 'Give 1 to 80 characters.',
    }),
    summary: field(text(300), {
      title: 'Summary',
      description: 'What the agent does, in one sentence.',
      examples: ['Answers questions about the stock of a shop.'],
      fix: 'Give 1 to 300 characters.',
    }),
    runtime: field(z.discriminatedUnion('type', [webhookRuntime, inlineRuntime]), {
      title: 'Runtime',
      description: 'Where the agent runs.',
      fix: 'Give {"type": "webhook", "endpoint": "https://…"} or {"type": "inline", "instructions": "…"}.',
    }),
    tools: field(z.array(tool).max(LIMITS.toolsPerManifest).optional(), {
      title: 'Tools',
      description: 'What other agents can ask this agent for.',
      fix: `List at most ${LIMITS.toolsPerManifest} tools.`,
    }),
    config: schemaObject({
      title: 'Settings',
      description:
        'A JSON Schema of an object of scalars, from which the settings form of an installation is made. ' +
        '`writeOnly` marks a secret: it is stored encrypted and never shown again.',
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
            description: 'A scope.',
            fix: 'Use scopes of GET /oauth/scopes.',
            schemaRef: 'scope',
          }),
        )
        .max(SCOPE_NAMES.length)
        .optional(),
      {
        title: 'Scopes',
        description: 'The scopes that this version needs, within the app’s requested_scopes.',
        examples: [['runs:write', 'tools:invoke']],
        fix: 'List scopes of GET /oauth/scopes, each once.',
      },
    ),
    surface: field(
      z
        .strictObject({
          url: address('Address', 'The page that the console shows in an iframe.', 'https://agent.example.com/panel'),
        })
        .optional(),
      {
        title: 'Surface',
        description: 'A page of yours that the console shows in an iframe, with a 5-minute read-only token.',
        fix: 'Give {"url": "https://…"}, or leave it out.',
      },
    ),
  }),
  {
    title: 'Agent manifest',
    description:
      'What an agent is, where it runs, what it offers and how it is set up. Published as an immutable version.',
    fix: 'Give the manifest as a JSON object.',
  },
)

/** A valid manifest. `tools` absent means none, `config` absent means nothing to set up. */
export type Manifest = z.infer<typeof manifestSchema>
