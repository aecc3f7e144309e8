"""The CrowdResolve service: from annotation events to resolved labels."""
