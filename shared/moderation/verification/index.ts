export { applyForVerification, loadVerification } from './apply.ts'
export { decideVerification, presentModeratedVerification, verificationLists, verificationSources } from './decide.ts'
export { VERIFICATION_STATUSES, VerificationEntity } from './entity.ts'
export {
  ApplyForVerification,
  DecideVerification,
  ModeratedVerificationSchema,
  VerificationSchema,
  VerificationStateSchema,
} from './schemas.ts'
