import type { Secrets } from './aws/secrets.ts'
import type { LocalModel } from './template/model.ts'

/**
 * Stores the language model's key in the secret where the operator of a deployed stage stores it. Without a key, the
 * secret stays unchanged and no external model is called.
 */
export const saveModelKey = (model: LocalModel, secrets: Secrets, key: string | undefined): void => {
  const SecretId = model.functions.map(({ environment }) => environment.LANGUAGE_MODEL_SECRET_ARN).find(Boolean)
  if (!key || SecretId === undefined) return
  secrets.handle('PutSecretValue', { SecretId, SecretString: JSON.stringify({ api_key: key }) })
}
