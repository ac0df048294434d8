import type { Secrets } from './aws/secrets.ts'
import type { LocalModel } from './template/model.ts'

/**
 * Puts the language model's key where the operator of a deployed stage puts it. Without one the secret stays as it is: nothing
 * outside is called.
 */
export const keepModelKey = (model: LocalModel, secrets: Secrets, key: string | undefined): void => {
  const SecretId = model.functions.map(({ environment }) => environment.LANGUAGE_MODEL_SECRET_ARN).find(Boolean)
  if (!key || SecretId === undefined) return
  secrets.handle('PutSecretValue', { SecretId, SecretString: JSON.stringify({ api_key: key }) })
}
