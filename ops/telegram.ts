import { fstatSync, readFileSync } from 'node:fs'
import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { OperatorError, readCommandLine, runCommand } from './command.ts'
import { readStage, serviceStackOf, stackOutputs } from './stage.ts'
import { type Connected, connectBot } from './telegram/connect.ts'
import type { SecretStore } from './telegram/secret.ts'

const HELP = `npm run telegram -- --stage <stage> [--token-file <file>] [--rotate] [--take-over]

Connects a Telegram bot to a deployed stage: checks the token, stores it in the stack's secret, sets webhook and commands. You can run
it again at any time, for example after the base address has changed, or to see Telegram's last error about the webhook.

  --stage       name of the deployed stage (dev)
  --token-file  file with the token from @BotFather, or use standard input; needed the first time and when the token has changed
  --rotate      create a new webhook secret
  --take-over   take over a bot that sends its updates elsewhere, such as to another stage
  --secret-id, --base-url  secret and base address; default: the stack's outputs TelegramBotSecret and BaseUrl
  --api-url     server of the Bot API; default: the stage's setting telegramApiUrl
  --help        show this help`

function readOptions() {
  const { values, positionals } = readCommandLine(HELP, {
    // The parser's own error would quote the argument.
    allowPositionals: true,
    options: {
      stage: { type: 'string' },
      'token-file': { type: 'string' },
      rotate: { type: 'boolean', default: false },
      'take-over': { type: 'boolean', default: false },
      'secret-id': { type: 'string' },
      'base-url': { type: 'string' },
      'api-url': { type: 'string' },
    },
  })
  if (positionals.length === 0) return values
  throw new OperatorError(
    'A token as an argument would be visible to others. Give --token-file <file>, or use standard input.',
  )
}

/** Reads the token. It is never an argument: everyone on the machine can see those, and the shell's history keeps them. */
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

const summaryOf = (done: Connected): string =>
  [
    `@${done.username} sends its updates to ${done.webhookUrl}.`,
    ...(done.movedFrom === undefined ? [] : [`Until now it sent them to ${done.movedFrom}.`]),
    done.tokenStored ? 'Its token is stored in the stack’s secret.' : 'Its token hasn’t changed.',
    ...(done.replaced === undefined
      ? []
      : [`${done.replaced} was connected before, and no longer sends updates here.`]),
    ...(done.secretRotated || done.tokenStored ? ['Running functions read the secret again within five minutes.'] : []),
    ...(done.lastError === undefined ? [] : [`Telegram’s last error about the webhook: ${done.lastError}`]),
  ].join('\n')

/** Finds the bot's secret and the base address of a deployed stage. */
async function deployed(stackName: string): Promise<{ secretId: string; baseUrl: string }> {
  const { TelegramBotSecret, BaseUrl } = await stackOutputs(stackName, ['TelegramBotSecret', 'BaseUrl'])
  return { secretId: TelegramBotSecret, baseUrl: BaseUrl }
}

async function main(): Promise<void> {
  const options = readOptions()
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
  console.log(summaryOf(await connectBot({ secret, baseUrl, apiUrl: config.telegramApiUrl, token, rotate, takeOver })))
}

runCommand(main)
