export {
  BlockDeveloper,
  blockDeveloper,
  ModeratedDeveloperSchema,
  presentModeratedDeveloper,
  unblockDeveloper,
  verifyDeveloper,
} from './moderate.ts'
