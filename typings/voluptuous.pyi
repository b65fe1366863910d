# What Home Assistant serves under this name since 2026.9.
from probatio import *
from probatio import Marker as Marker, Schema as Schema
