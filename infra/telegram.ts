import { fstatSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { OperatorError, runCommand } from './operator/command.ts'
import { readStage, serviceStackOf, stackOutputs } from './operator/stage.ts'
import { type Connected, connectBot } from './telegram/connect.ts'
import type { SecretStore } from './telegram/secret.ts'

const HELP = `npm run telegram -- --stage <stage> [--token-file <file>] [--rotate] [--take-over]

Connects a Telegram bot to a deployed stage: checks the token, keeps it in the stack's secret, sets webhook and commands. Run
it again at any time: after the base address has changed, or to see what Telegram says against the webhook.

  --stage       as it was deployed (dev)
  --token-file  the token from @BotFather; or give it on standard input. Needed the first time, and when it has changed
  --rotate      make a new webhook secret
  --take-over   take a bot that sends its updates elsewhere, such as to another stage
  --secret-id, --base-url  instead of asking CloudFormation for the stack's outputs TelegramBotSecret and BaseUrl
  --api-url     the Bot API's server, where it is not the stage's setting telegramApiUrl
  --help        this`

function readOptions() {
  const { values, positionals } = parseArgs({
    // The parser's own refusal would quote what was given.
    allowPositionals: true,
    options: {
      stage: { type: 'string' },
      'token-file': { type: 'string' },
      rotate: { type: 'boolean', default: false },
      'take-over': { type: 'boolean', default: false },
      'secret-id': { type: 'string' },
      'base-url': { type: 'string' },
      'api-url': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (positionals.length === 0) return values
  throw new OperatorError('A token is no argument: others would see it. Give --token-file <file>, or standard input.')
}

/** Never as an argument: those are seen by everybody on the machine, and kept in the shell's history. */
function readToken(file: string | undefined): string | undefined {
  const stdin = fstatSync(0, { throwIfNoEntry: false })
  // Neither a terminal nor `/dev/null`: something was piped in.
  const piped = stdin !== undefined && (stdin.isFIFO() || stdin.isFile() || stdin.isSocket())
  const text = file !== undefined ? readFileSync(file, 'utf8') : piped ? readFileSync(0, 'utf8') : ''
  return text.trim() || undefined
}

function secretStore(SecretId: string): SecretStore {
  const client = new SecretsManagerClient({})
  return {
    read: async () => (await client.send(new GetSecretValueCommand({ SecretId }))).SecretString ?? '',
    write: (SecretString) => client.send(new PutSecretValueCommand({ SecretId, SecretString })),
  }
}

const told = (done: Connected): string =>
  [
    `@${done.username} sends its updates to ${done.webhookUrl}.`,
    ...(done.movedFrom === undefined ? [] : [`Until now it sent them to ${done.movedFrom}.`]),
    done.tokenStored ? 'Its token is kept in the stack’s secret.' : 'Its token is the one that was kept.',
    ...(done.replaced === undefined ? [] : [`${done.replaced} was connected before, and is told nothing any more.`]),
    ...(done.secretRotated || done.tokenStored
      ? ['Functions that run already read the secret again within five minutes.']
      : []),
    ...(done.lastError === undefined ? [] : [`Telegram’s last complaint about the webhook: ${done.lastError}`]),
  ].join('\n')

/** Where the bot's secret and the platform are. */
async function deployed(stackName: string): Promise<{ secretId: string; baseUrl: string }> {
  const { TelegramBotSecret, BaseUrl } = await stackOutputs(stackName, ['TelegramBotSecret', 'BaseUrl'])
  return { secretId: TelegramBotSecret, baseUrl: BaseUrl }
}

async function main(): Promise<void> {
  const options = readOptions()
  if (options.help) return console.log(HELP)
  const config = readStage({ stage: options.stage, telegramApiUrl: options['api-url'] })
  const { 'secret-id': id, 'base-url': url } = options
  if ((id === undefined) !== (url === undefined)) throw new OperatorError('Give --secret-id and --base-url together.')
  const { secretId, baseUrl } =
    id !== undefined && url !== undefined
      ? { secretId: id, baseUrl: url.replace(/\/+$/, '') }
      : await deployed(serviceStackOf(config))
  const token = readToken(options['token-file'])
  const secret = secretStore(secretId)
  const { rotate, 'take-over': takeOver } = options
  console.log(told(await connectBot({ secret, baseUrl, apiUrl: config.telegramApiUrl, token, rotate, takeOver })))
}

runCommand(main)
