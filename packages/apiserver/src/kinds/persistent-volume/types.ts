import type { TypeDeclarations } from "../../schema/type-declarations.js";

/** The types of volumes, except the sources that volumes of pods share. */
export const volumeTypes: TypeDeclarations = {
  fields: {
    PersistentVolume: "metadata:ObjectMeta spec+:PersistentVolumeSpec status+:PersistentVolumeStatus | apiVersion kind",
    PersistentVolumeSpec:
      "capacity:{}quantity ~PersistentVolumeSource accessModes:[]string claimRef:ObjectReference persistentVolumeReclaimPolicy storageClassName mountOptions:[]string volumeMode* nodeAffinity:VolumeNodeAffinity volumeAttributesClassName*",
    PersistentVolumeStatus: "phase message reason lastPhaseTransitionTime:time",
    AzureFilePersistentVolumeSource: "secretName!+ shareName!+ readOnly?:boolean secretNamespace+*",
    CephFSPersistentVolumeSource:
      "monitors!+*:[]string path user secretFile secretRef:SecretReference readOnly?:boolean",
    CinderPersistentVolumeSource: "volumeID!+ fsType readOnly?:boolean secretRef:SecretReference",
    CSIPersistentVolumeSource:
      "driver!+ volumeHandle!+ readOnly?:boolean fsType volumeAttributes:{}string controllerPublishSecretRef:SecretReference nodeStageSecretRef:SecretReference nodePublishSecretRef:SecretReference controllerExpandSecretRef:SecretReference nodeExpandSecretRef:SecretReference",
    FlexPersistentVolumeSource: "driver!+ fsType secretRef:SecretReference readOnly?:boolean options:{}string",
    GlusterfsPersistentVolumeSource: "endpoints!+ path!+ readOnly?:boolean endpointsNamespace*",
    ISCSIPersistentVolumeSource:
      "targetPortal!+ iqn!+ lun!+:int32 iscsiInterface fsType readOnly?:boolean portals:[]string chapAuthDiscovery?:boolean secretRef:SecretReference chapAuthSession?:boolean initiatorName*",
    LocalVolumeSource: "path!+ fsType*",
    VolumeNodeAffinity: "required:NodeSelector",
    RBDPersistentVolumeSource:
      "monitors!+*:[]string image!+ fsType pool user keyring secretRef:SecretReference readOnly?:boolean",
    ScaleIOPersistentVolumeSource:
      "gateway!+ system!+ secretRef!+*:SecretReference sslEnabled?:boolean protectionDomain storagePool storageMode volumeName fsType readOnly?:boolean",
    StorageOSPersistentVolumeSource: "volumeName volumeNamespace fsType readOnly?:boolean secretRef:ObjectReference",
    SecretReference: "name namespace",
    PersistentVolumeSource:
      "gcePersistentDisk:GCEPersistentDiskVolumeSource awsElasticBlockStore:AWSElasticBlockStoreVolumeSource hostPath:HostPathVolumeSource glusterfs:GlusterfsPersistentVolumeSource nfs:NFSVolumeSource rbd:RBDPersistentVolumeSource iscsi:ISCSIPersistentVolumeSource cinder:CinderPersistentVolumeSource cephfs:CephFSPersistentVolumeSource fc:FCVolumeSource flocker:FlockerVolumeSource flexVolume:FlexPersistentVolumeSource azureFile:AzureFilePersistentVolumeSource vsphereVolume:VsphereVirtualDiskVolumeSource quobyte:QuobyteVolumeSource azureDisk:AzureDiskVolumeSource photonPersistentDisk:PhotonPersistentDiskVolumeSource portworxVolume:PortworxVolumeSource scaleIO:ScaleIOPersistentVolumeSource local:LocalVolumeSource storageos:StorageOSPersistentVolumeSource csi:CSIPersistentVolumeSource",
  },
  atomicTypes: new Set(["SecretReference"]),
};
